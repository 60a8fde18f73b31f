import { expect, it } from 'vitest';
import type { Outcome } from '../../../src/panel/health/outcome.ts';
import type { RequestArguments } from '../../../src/panel/requests.ts';
import type { Call } from '../../../src/panel/scheduler/call.ts';
import { type Path, pathSubject } from '../../../src/panel/subjects.ts';
import { trialEnqueuer } from '../../../src/panel/trial-enqueuer.ts';

/** Trials of servers. For these servers, no further token may be requested. */
function callsWithout(...full: readonly string[]) {
  const made: (readonly [Path, RequestArguments, Pick<Call, 'deadline' | 'tries' | 'isRetry'>])[] = [];
  let last: Outcome | undefined;
  const enqueue = trialEnqueuer({
    health: () => ({ asked: () => ({ target: { daemon: 'of a' } }), last: () => last }),
    hasTokenRoom: (server) => !full.includes(server),
    start: (path, what, call) => {
      made.push([path, what, call]);
      return path === 'listing' ? Promise.reject(new Error('down')) : Promise.resolve();
    },
  });
  const fail = () => {
    const problem = { cause: 'timeout', detail: 'late' } as const;
    last = { problem } as Outcome;
  };
  return { enqueue, made, fail };
}

const signal = new AbortController().signal;

it.each<[string, Path, readonly string[], boolean, string | undefined]>([
  ['the first server that has room', 'websocket', ['a', 'b'], true, 'b'],
  ['the first of all if none has room and that isn’t needed', 'websocket', ['a', 'c'], false, 'a'],
  ['nobody if none has room and that is needed', 'websocket', ['a', 'c'], true, undefined],
  ['the first server, where servers have no limit of their own', 'resources', ['a', 'b'], true, 'a'],
  ['nobody if nobody may be asked', 'resources', [], false, undefined],
])('a trial asks %s', (_what, path, servers, needsRoom, server) => {
  const { enqueue, made } = callsWithout('a', 'c');
  expect(enqueue({ path, servers, tries: pathSubject(path), needsRoom }, signal)?.server).toBe(server);
  expect(made.map(([, { id }]) => id)).toEqual(server === undefined ? [] : [server]);
});

it('a trial goes before all calls with a deadline, and is a retry once the server has failed', () => {
  const { enqueue, made, fail } = callsWithout();
  enqueue({ path: 'resources', servers: ['a'], tries: pathSubject('resources'), needsRoom: false }, signal);
  const [path, what, call] = made[0] ?? [];
  expect([path, what]).toEqual(['resources', { id: 'a', daemon: 'of a' }]);
  expect([call?.deadline, call?.tries(), call?.isRetry?.()]).toEqual([
    Number.NEGATIVE_INFINITY,
    pathSubject('resources'),
    false,
  ]);
  fail();
  expect(call?.isRetry?.()).toBe(true);
});

it('a trial ends with its error, and never rejects', async () => {
  const { enqueue } = callsWithout();
  const ask = (path: Path) =>
    enqueue({ path, servers: [''], tries: pathSubject(path), needsRoom: false }, signal);
  expect(await ask('listing')?.end).toMatchObject({ message: 'down' });
  expect(await ask('resources')?.end).toBeUndefined();
});
