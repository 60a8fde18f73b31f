import { describe, expect, it } from 'vitest';
import type { CauseCode } from '../../../../src/domain/problems.ts';
import { RefusalWatch } from '../../../../src/panel/health/refusal-watch.ts';

const MINUTE_MS = 60_000;
const START = 10 * MINUTE_MS;

/** The result of a server's call, the result before it, and the seconds since the start. */
interface End {
  readonly server: string;
  readonly before?: CauseCode;
  readonly cause?: CauseCode;
  readonly afterS?: number;
}

/** Whether the server list is requested after each of these results. */
function looksAfter(ends: readonly End[], asked = 10): readonly boolean[] {
  const watch = new RefusalWatch();
  return ends.map(({ server, before, cause, afterS = 0 }) =>
    watch.ended(server, before, cause, { now: START + afterS * 1_000, asked }),
  );
}

const refused = (servers: string, cause: CauseCode = 'not_found', afterS = 0): readonly End[] =>
  servers.split(' ').map((server) => ({ server, cause, afterS }));

describe('the server list is looked at', () => {
  it.each<[string, readonly End[], readonly boolean[], number?]>([
    ['when three servers begin to get 404', refused('a b c'), [false, false, true]],
    ['when three begin to get 403', refused('a b c', 'forbidden'), [false, false, true]],
    ['when three lose their consoles', refused('a b c', 'no_console_permission'), [false, false, true]],
    [
      'when three begin to be refused in different ways',
      [...refused('a'), ...refused('b', 'forbidden'), ...refused('c', 'no_console_permission')],
      [false, false, true],
    ],
    ['when both of two do', refused('a b'), [false, true], 2],
    ['when the only one does', refused('a'), [true], 1],
    ['not when one of them does twice', refused('a b b'), [false, false, false]],
    [
      'not when they were refused before',
      ['a', 'b', 'c'].map((server) => ({ server, cause: 'not_found', before: 'forbidden' })),
      [false, false, false],
    ],
    [
      'when they failed otherwise before',
      ['a', 'b', 'c'].map((server) => ({ server, cause: 'not_found', before: 'timeout' })),
      [false, false, true],
    ],
    ['not when they are suspended', refused('a b c', 'suspended'), [false, false, false]],
    ['not when they work', ['a', 'b', 'c'].map((server) => ({ server })), [false, false, false]],
    [
      'not when a minute passes between the first and the third',
      [...refused('a'), ...refused('b c', 'not_found', 60)],
      [false, false, false],
    ],
    [
      'when less than a minute passes',
      [...refused('a'), ...refused('b c', 'not_found', 59)],
      [false, false, true],
    ],
    [
      'once a minute at most, however many are refused',
      [...refused('a b c d e f'), ...refused('g h', 'not_found', 59), ...refused('i', 'not_found', 60)],
      [false, false, true, false, false, false, false, false, true],
    ],
  ])('%s', (_what, ends, looks, asked) => {
    expect(looksAfter(ends, asked)).toEqual(looks);
  });
});
