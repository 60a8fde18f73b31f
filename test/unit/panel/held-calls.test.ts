import { expect, it } from 'vitest';
import { HeldCalls } from '../../../src/panel/held-calls.ts';
import { PanelError } from '../../../src/panel/panel-error.ts';
import type { Call } from '../../../src/panel/scheduler/call.ts';
import type { Path } from '../../../src/panel/subjects.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const { signal } = new AbortController();
const throttled = (limitPerMinute?: number) =>
  new PanelError({ cause: 'rate_limited', detail: 'too many calls' }, { status: 429, limitPerMinute });
const notFound = () => new PanelError({ cause: 'not_found', detail: 'nothing here' }, { status: 404 });

/** Calls that fail with these errors, one each. Later calls return `a value`. */
function setUp(errors: readonly Error[], isKnown = true) {
  const left = [...errors];
  const made: Call[] = [];
  let checks = 0;
  const held = new HeldCalls({
    clock: new ManualClock(),
    api: {},
    health: {
      isKnown,
      outage: () => undefined,
      check: () => {
        checks += 1;
      },
      socketTrial: () => ({ subject: 'sockets n1', isFresh: false }),
      asked: () => ({ node: 'n1' }),
    },
    scheduler: { run: (_call, scope, make) => make(scope), polled: () => undefined },
    calls: {
      make: async (call) => {
        made.push(call);
        const error = left.shift();
        if (error !== undefined) throw error;
        return 'a value' as never;
      },
    },
    rate: { learnFrom: (_call, asked) => asked },
  });
  const run = (path: Path) => held.run(path, { id: 'a' }, { deadline: 5 }, signal);
  return { run, made, checks: () => checks };
}

it('a call is made again after each pause that the panel demands', async () => {
  const { run, made } = setUp([throttled(), throttled()]);
  await expect(run('resources')).resolves.toBe('a value');
  expect(made).toHaveLength(3);
});

it('a call for credentials fails with a pause of its server’s own limit', async () => {
  const { run, made } = setUp([throttled(5)]);
  await expect(run('websocket')).rejects.toMatchObject({ problem: { cause: 'rate_limited' } });
  expect(made).toHaveLength(1);
});

it('a call fails with any other error', async () => {
  const { run, made } = setUp([notFound()]);
  await expect(run('resources')).rejects.toMatchObject({ problem: { cause: 'not_found' } });
  expect(made).toHaveLength(1);
});

it('the first call has the panel checked, and a 404 is the address’s until something has worked', async () => {
  const unknown = setUp([notFound()], false);
  await expect(unknown.run('resources')).rejects.toMatchObject({ problem: { cause: 'not_a_panel' } });
  expect(unknown.checks()).toBe(1);
  const known = setUp([]);
  await known.run('resources');
  expect(known.checks()).toBe(0);
});

it('only a call for credentials tries its server’s node, and each has its server’s node', async () => {
  const { run, made } = setUp([]);
  for (const path of ['websocket', 'resources'] as const) await run(path);
  expect(made.map((call) => call.tries())).toEqual(['sockets n1', undefined]);
  expect(made.map(({ path, server, node, deadline }) => [path, server, node(), deadline])).toEqual([
    ['websocket', 'a', 'n1', 5],
    ['resources', 'a', 'n1', 5],
  ]);
});
