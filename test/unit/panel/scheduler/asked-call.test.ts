import { describe, expect, it } from 'vitest';
import { AskedCall, type PendingCall } from '../../../../src/panel/scheduler/asked-call.ts';
import type { Call } from '../../../../src/panel/scheduler/call.ts';
import { deferred } from '../../../support/deferred.ts';

const CALL: Call = {
  path: 'websocket',
  server: 'a',
  node: () => undefined,
  deadline: 0,
  tries: () => undefined,
};
const REASON = new Error('not needed');

/** A call, and a record of everything that happens to it, in order. */
function asked() {
  const scope = new AbortController();
  const work = deferred<string>();
  const happened: string[] = [];
  let signal: AbortSignal | undefined;
  const one: AskedCall<string> = new AskedCall({
    call: CALL,
    id: '1',
    signal: scope.signal,
    make: (given) => {
      signal = given;
      happened.push(given.aborted ? 'made in vain' : 'made');
      return work.promise;
    },
    withdrawn: (which: PendingCall) => happened.push(which === one ? 'withdrawn' : 'another was withdrawn'),
  });
  one.result.then(
    (value) => happened.push(`resolved: ${value}`),
    (error: Error) => happened.push(`rejected: ${error.message}`),
  );
  const begin = () =>
    one.begin((error?: unknown) => {
      happened.push(error instanceof Error ? `failed: ${error.message}` : 'ended');
    });
  return { one, scope, work, happened, begin, signal: () => signal };
}

type World = ReturnType<typeof asked>;

const steps: Readonly<Record<string, (world: World) => void>> = {
  begins: ({ begin }) => void begin(),
  works: ({ work }) => work.resolve('value'),
  fails: ({ work }) => work.reject(new Error('no response')),
  'signal aborts': ({ scope }) => scope.abort(REASON),
  'is withdrawn': ({ one }) => one.withdraw(REASON),
};

describe('a call', () => {
  it.each<[readonly (keyof typeof steps)[], readonly string[]]>([
    [[], []],
    [['begins'], ['made']],
    // The call's place is free before its caller continues.
    [
      ['begins', 'works'],
      ['made', 'ended', 'resolved: value'],
    ],
    [
      ['begins', 'fails'],
      ['made', 'failed: no response', 'rejected: no response'],
    ],
    [['signal aborts'], ['withdrawn', 'rejected: not needed']],
    [['is withdrawn'], ['withdrawn', 'rejected: not needed']],
    [
      ['is withdrawn', 'signal aborts', 'is withdrawn'],
      ['withdrawn', 'rejected: not needed'],
    ],
    // The call has started, but waits for its turn of the event loop.
    [
      ['signal aborts', 'begins', 'works'],
      ['withdrawn', 'rejected: not needed', 'ended'],
    ],
    [
      ['is withdrawn', 'begins'],
      ['withdrawn', 'rejected: not needed', 'ended'],
    ],
    [
      ['begins', 'signal aborts'],
      ['made', 'rejected: not needed'],
    ],
    [
      ['begins', 'is withdrawn', 'works'],
      ['made', 'rejected: not needed', 'ended'],
    ],
    [
      ['begins', 'signal aborts', 'fails'],
      ['made', 'rejected: not needed', 'failed: no response'],
    ],
    [
      ['begins', 'works', 'signal aborts', 'is withdrawn'],
      ['made', 'ended', 'resolved: value'],
    ],
  ])('that %j: %j', async (taken, expected) => {
    const world = asked();
    for (const step of taken) {
      steps[step]?.(world);
      await Promise.resolve().then(() => undefined);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(world.happened).toEqual(expected);
  });

  it('aborts its own signal with the reason while it runs', () => {
    const world = asked();
    void world.begin();
    world.scope.abort(REASON);
    expect(world.signal()?.reason).toBe(REASON);
  });
});
