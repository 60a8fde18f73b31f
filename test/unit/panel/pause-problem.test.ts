import { expect, it } from 'vitest';
import { pauseProblem } from '../../../src/panel/pause-problem.ts';
import { RateLimit } from '../../../src/panel/scheduler/rate-limit.ts';
import type { Path } from '../../../src/panel/subjects.ts';
import { ManualClock } from '../../support/manual-clock.ts';

/** A limit after a 429 on each of these paths, with or without the account's limit. */
function throttled(...paths: readonly (readonly [path: Path, limit?: number])[]) {
  const clock = new ManualClock(0);
  clock.unixOffsetMs = Date.UTC(2026, 10, 5, 12, 0, 0);
  const limit = new RateLimit(clock);
  for (const [path, limitPerMinute] of paths) limit.throttled(path, 'a', { limitPerMinute }, 7_000);
  return { clock, limit };
}

const OF_BACKUPS = 'rate limit exceeded (429): no calls for backups until 12:00:07 UTC';
const OF_ALL = 'rate limit exceeded (429): no calls until 12:00:07 UTC';

it.each<[string, ReturnType<typeof throttled>, Path | undefined, string | undefined]>([
  ['of nothing', throttled(), undefined, undefined],
  ['of a path', throttled(['backups']), undefined, OF_BACKUPS],
  ['of a path, to that path', throttled(['backups']), 'backups', OF_BACKUPS],
  ['of a path, to no other', throttled(['backups']), 'resources', undefined],
  ['of the account', throttled(['backups', 240]), undefined, OF_ALL],
  ['of the account rather than of a path', throttled(['backups'], ['resources', 240]), undefined, OF_ALL],
  ['of the account, to no path', throttled(['backups', 240]), 'backups', undefined],
  ['of one server’s tokens, to nobody', throttled(['websocket', 5]), 'websocket', undefined],
])('a pause %s', (_what, { clock, limit }, path, detail) => {
  const problem = detail === undefined ? undefined : { cause: 'rate_limited', detail, since: 0 };
  expect(pauseProblem(limit, clock, path)).toEqual(problem);
});

it('a pause that is demanded again goes on since the first demand', async () => {
  const { clock, limit } = throttled(['backups']);
  await clock.advance(6_000);
  limit.throttled('backups', 'a', {}, 30_000);
  expect(pauseProblem(limit, clock)).toMatchObject({ since: 0 });
  limit.answered('backups', 'a');
  limit.throttled('backups', 'a', {}, 30_000);
  expect(pauseProblem(limit, clock)).toMatchObject({ since: 6_000 });
});

it('a pause that is over is no problem, even before a call has proved it', async () => {
  const { clock, limit } = throttled(['backups']);
  await clock.advance(7_000);
  expect(pauseProblem(limit, clock)).toBeUndefined();
});
