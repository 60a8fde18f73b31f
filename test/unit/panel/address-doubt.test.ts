import { expect, it } from 'vitest';
import type { CauseCode, Problem } from '../../../src/domain/problem.ts';
import { AddressDoubt, confirmsAddress } from '../../../src/panel/address-doubt.ts';

const NOT_FOUND: Problem = { cause: 'not_found', detail: 'answered 404' };

it.each<[cause: CauseCode | undefined, confirms: boolean]>([
  [undefined, true],
  ['no_console_permission', true],
  ['suspended', true],
  ['server_not_on_node', true],
  ['node_unreachable', true],
  ['unauthorized', true],
  ['key_refused', true],
  ['not_found', false],
  ['node_silent', false],
  ['timeout', false],
  ['connection', false],
  ['login_page', false],
  ['not_a_panel', false],
  ['panel_down', false],
  ['rate_limited', false],
  ['bad_answer', false],
])('a call that ends with %s confirms the address: %s', (cause, confirms) => {
  expect(confirmsAddress(cause)).toBe(confirms);
});

it.each<[string, readonly (CauseCode | undefined)[], CauseCode]>([
  ['before any other answer', [], 'not_a_panel'],
  ['after other calls with 404', ['not_found', 'not_found'], 'not_a_panel'],
  ['after calls without an answer', ['timeout', 'node_silent'], 'not_a_panel'],
  ['after a success', [undefined], 'not_found'],
  ["after a refusal in the panel's own words", ['forbidden'], 'not_found'],
  ['after a success, and failures since', [undefined, 'timeout', 'not_found'], 'not_found'],
])('a 404 %s is judged as expected', (_what, earlier, expected) => {
  const address = new AddressDoubt();
  for (const cause of earlier) address.judged(cause && { cause, detail: cause });
  expect(address.concerns(NOT_FOUND)).toBe(expected === 'not_a_panel');
  expect(address.judged(NOT_FOUND)).toEqual({ ...NOT_FOUND, cause: expected });
});

it('a 404 may be due to a wrong address again after a change of settings', () => {
  const address = new AddressDoubt();
  address.judged(undefined);
  address.reset();
  expect(address.judged(NOT_FOUND)?.cause).toBe('not_a_panel');
});
