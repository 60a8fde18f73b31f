import { describe, expect, it } from 'vitest';
import { suspected, withTrial } from '../../../../src/panel/health/blame.ts';
import { findHold } from '../../../../src/panel/health/holds.ts';
import type { Call } from '../../../../src/panel/scheduler/call.ts';
import { NO_SERVER, type Subject } from '../../../../src/panel/subjects.ts';
import { NOW } from '../../../support/panel-outcomes.ts';

const call = (one: Partial<Call> = {}): Call => ({
  path: 'resources',
  server: 'a1',
  node: () => 'a',
  deadline: NOW,
  tries: () => undefined,
  ...one,
});
const token = (one: Partial<Call> = {}) => call({ path: 'websocket', ...one });
const listing = (one: Partial<Call> = {}) =>
  call({ path: 'listing', server: NO_SERVER, node: () => undefined, ...one });
const trial = (tries: Subject, one: Partial<Call> = {}) => call({ tries: () => tries, ...one });

/** A health in which these subjects are blamed. */
const blamed = (...subjects: readonly Subject[]) => ({
  isKnown: true,
  isBlamed: (subject: Subject) => subjects.includes(subject),
  outage: () => undefined,
});

describe('a call', () => {
  it.each<[string, Call, readonly Subject[], Subject?]>([
    ['starts if nothing has an outage', call(), []],
    ['waits while the panel is down', call(), ['panel'], 'panel'],
    ['starts as a canary of a panel that is down', trial('panel'), ['panel']],
    ['waits while its path has an outage', call(), ['path resources'], 'path resources'],
    ['starts while another path is', call(), ['path websocket', 'path listing']],
    ['waits while its node’s polls are', call(), ['polls a'], 'polls a'],
    ['starts while its node’s sockets are, as a poll', call(), ['sockets a']],
    ['starts while another node’s polls are', call(), ['polls b']],
    ['starts while its node isn’t known', call({ node: () => undefined }), ['polls a']],
    ['starts as the trial of its node', trial('polls a'), ['polls a']],
    [
      'waits as the trial of a node whose path has an outage',
      trial('polls a'),
      ['polls a', 'path resources'],
      'path resources',
    ],
    [
      'starts as the trial of a path whatever is smaller',
      trial('path websocket', { path: 'websocket' }),
      ['path websocket', 'consoles', 'sockets a'],
    ],
    [
      'starts as the trial of the consoles while its node’s sockets fail',
      trial('consoles', { path: 'websocket' }),
      ['consoles', 'sockets a'],
    ],
    [
      'waits as the trial of a node’s sockets while consoles are refused',
      trial('sockets a', { path: 'websocket' }),
      ['consoles', 'sockets a'],
      'consoles',
    ],
    ['waits for a token while consoles are refused', token(), ['consoles'], 'consoles'],
    ['waits for a token while its node’s sockets fail', token(), ['sockets a'], 'sockets a'],
    [
      'starts for the next token of an open socket while new ones fail',
      token({ isRenewal: true }),
      ['sockets a'],
    ],
    [
      'waits for the next token of an open socket while consoles are refused',
      token({ isRenewal: true }),
      ['consoles'],
      'consoles',
    ],
    ['waits for the largest of what has an outage', call(), ['polls a', 'path resources', 'panel'], 'panel'],
    [
      'starts for the server list while its path has an outage: nothing else reads it',
      listing(),
      ['path listing'],
    ],
    ['waits for the server list while the panel is down', listing(), ['panel'], 'panel'],
    ['starts for backups while the node has an outage', call({ path: 'backups' }), ['polls a', 'sockets a']],
    [
      'is held by what it needs, if it tries something else',
      trial('consoles'),
      ['path resources'],
      'path resources',
    ],
  ])('%s', (_what, one, subjects, holds) => {
    const hold = holds === undefined ? undefined : { subject: holds, until: Number.POSITIVE_INFINITY };
    expect(findHold(one, blamed(...subjects))).toEqual(hold);
  });

  const firstRound = withTrial(suspected(undefined, NOW, NOW), NO_SERVER, NOW);
  const unknown = (outage: typeof firstRound | undefined) => ({
    ...blamed(),
    isKnown: false,
    outage: () => outage,
  });

  it('waits three seconds at most for the first canary', () => {
    expect(findHold(call(), unknown(firstRound))).toEqual({ subject: 'panel', until: NOW + 3_000 });
  });

  it('starts as a canary before the panel is known', () => {
    expect(findHold(trial('panel'), unknown(firstRound))).toBeUndefined();
  });

  it('starts if no canary is under way', () => {
    expect(findHold(call(), unknown(undefined))).toBeUndefined();
    expect(findHold(call(), unknown(suspected(undefined, NOW, NOW)))).toBeUndefined();
  });

  it('starts while the panel is tried again, once it was known', () => {
    expect(findHold(call(), { ...unknown(firstRound), isKnown: true })).toBeUndefined();
  });
});
