import { expect, it } from 'vitest';
import { type Blamed, outageProblem } from '../../../src/diagnosis/outage-problem.ts';
import type { CauseCode } from '../../../src/domain/problems.ts';

/** The subject, the cause of the call's failure, and the cause of the subject's outage. */
const BLAMED: readonly (readonly [Blamed, CauseCode, CauseCode])[] = [
  ['panel', 'unauthorized', 'key_refused'],
  ['panel', 'not_found', 'not_a_panel'],
  ['node', 'server_not_on_node', 'node_lost_servers'],
  ['panel', 'node_silent', 'timeout'],
  ['panel', 'key_refused', 'key_refused'],
  ['panel', 'connection', 'connection'],
  ['websocket', 'not_found', 'not_a_panel'],
  ['resources', 'node_silent', 'timeout'],
  ['websocket', 'unauthorized', 'unauthorized'],
  ['listing', 'key_refused', 'listing_refused'],
  ['backups', 'panel_error', 'panel_error'],
  ['consoles', 'unauthorized', 'key_console_permission'],
  ['consoles', 'no_console_permission', 'key_console_permission'],
  ['node', 'node_connection', 'node_connection'],
  ['node', 'panel_error', 'node_error'],
];

it.each(BLAMED)('%s for %s: %s', (blamed, cause, expected) => {
  const { cause: found, detail } = outageProblem(blamed, { cause, detail: 'the words' });
  expect(found).toBe(expected);
  expect(detail).toContain('the words');
});
