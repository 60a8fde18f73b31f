import { expect, it } from 'vitest';
import { daemonRefusal, errorText } from '../../../src/simulator/daemon-refusals.ts';
import { PANEL_BEHAVIORS } from '../../../src/simulator/panel-behavior.ts';
import type { PanelKind } from '../../../src/simulator/simulator-schema.ts';
import {
  DAEMON_ERROR_TEXT,
  DENYLISTED_TEXT,
  EXPIRED_TEXT,
  NO_CONNECT_TEXT,
} from '../../../src/simulator/tokens.ts';

const IDENTIFIED = /^Error Event \[[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\]: (.*)$/;

it.each<[PanelKind, 'jwt error' | 'daemon error', string]>([
  ['pterodactyl', 'jwt error', EXPIRED_TEXT],
  ['pelican', 'jwt error', NO_CONNECT_TEXT],
  ['hydrodactyl', 'daemon error', DAEMON_ERROR_TEXT],
])('the daemon of %s explains a %s with an identifier: %s', (panel, event, text) => {
  const refused = daemonRefusal({ event, text }, PANEL_BEHAVIORS[panel]);
  expect(refused[0]).toBe(event);
  expect(IDENTIFIED.exec(refused[1] ?? '')?.[1]).toBe(text);
});

it.each<['jwt error' | 'daemon error', string, unknown]>([
  ['jwt error', EXPIRED_TEXT, ['jwt error', 'invalid token: token is expired']],
  ['jwt error', DENYLISTED_TEXT, ['jwt error', 'invalid token: token has invalid issued at time']],
  ['jwt error', NO_CONNECT_TEXT, 'drop'],
  ['daemon error', DAEMON_ERROR_TEXT, 'drop'],
  ['daemon error', EXPIRED_TEXT, 'drop'],
])('the daemon of Calagopus explains only what a %s says of time: %s', (event, text, refused) => {
  expect(daemonRefusal({ event, text }, PANEL_BEHAVIORS.calagopus)).toEqual(refused);
});

it('a text that has an identifier gets no other, and Calagopus has none', () => {
  expect(errorText('Error Event [a]: b', PANEL_BEHAVIORS.pelican)).toBe('Error Event [a]: b');
  expect(errorText('b', PANEL_BEHAVIORS.calagopus)).toBe('b');
});
