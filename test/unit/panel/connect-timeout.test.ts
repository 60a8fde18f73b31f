import { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { describe, expect, it } from 'vitest';
import { inTime } from '../../../src/panel/connect-timeout.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const TARGET = { hostname: 'panel.example.com', protocol: 'https:', port: '443' };

/** A connection attempt, whose end the test determines. */
function attempt() {
  const clock = new ManualClock();
  const socket = new Socket();
  const results: Parameters<buildConnector.Callback>[] = [];
  let end: buildConnector.Callback = () => undefined;
  let signal: AbortSignal | undefined;
  const connector = (target: buildConnector.Options & { signal?: AbortSignal }, done: typeof end) => {
    end = done;
    signal = target.signal;
    return socket;
  };
  inTime(connector, clock, 5_000)(TARGET, (...result) => results.push(result));
  return {
    clock,
    socket,
    results,
    end: (...result: Parameters<buildConnector.Callback>) => end(...result),
    isAborted: () => signal?.aborted,
  };
}

describe('an attempt to connect', () => {
  it.each([
    ['the connection', [null, new Socket()]],
    ['the error', [new Error('refused'), null]],
  ] as const)('that ends in time has %s as its result, and no timeout later', async (_what, result) => {
    const { clock, socket, results, end, isAborted } = attempt();
    await clock.advance(4_999);
    end(...result);
    await clock.advance(5_000);
    expect(results).toEqual([[...result]]);
    expect([socket.destroyed, isAborted()]).toEqual([false, false]);
  });

  it('that takes too long fails, and gives up its socket or tunnel', async () => {
    const { clock, socket, results, isAborted } = attempt();
    await clock.advance(4_999);
    expect(results).toEqual([]);
    await clock.advance(1);
    const error = { code: 'ETIMEDOUT', message: 'not connected within 5 s' };
    expect(results).toEqual([[expect.objectContaining(error), null]]);
    expect([socket.destroyed, isAborted()]).toEqual([true, true]);
  });

  it('that took too long has no second result', async () => {
    const { clock, results, end } = attempt();
    await clock.advance(5_000);
    end(new Error('destroyed'), null);
    expect(results).toHaveLength(1);
  });
});
