import { getEventListeners, getMaxListeners } from 'node:events';
import { Server, Socket } from 'node:net';
import { expect, vi } from 'vitest';
import type { TestClock } from './test-time.ts';

/** Real milliseconds that the system may take to take back what was closed. */
const PATIENCE_MS = 5_000;

/** A call that ended leaves this many on a signal that nobody else knows and that goes with it. */
const MOST_OF_ONE_CALL = 2;

/** What keeps the process alive now, counted by kind. */
export function activeResources(): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/** Waits until as much keeps the process alive as did before. */
export async function expectResources(before: Readonly<Record<string, number>>): Promise<void> {
  await vi.waitFor(() => expect(activeResources()).toEqual(before), { timeout: PATIENCE_MS, interval: 10 });
}

/** The exporter is stopped: no timer, no socket towards these ports, and no listener on its own port are left of it. */
export async function expectNothingLeft(
  clock: TestClock,
  ports: readonly number[],
  url: string,
): Promise<void> {
  expect(clock.pending, 'timers of the exporter after its stop').toBe(0);
  await vi.waitFor(
    () => {
      expect(clientPorts().filter((port) => ports.includes(port))).toEqual([]);
      expect(listeningPorts()).not.toContain(Number(new URL(url).port));
    },
    { timeout: PATIENCE_MS, interval: 10 },
  );
}

function handles(): readonly unknown[] {
  return (process as unknown as { _getActiveHandles(): readonly unknown[] })._getActiveHandles();
}

/** The far ends of the sockets that this process opened or was opened to. */
function clientPorts(): readonly number[] {
  return handles().flatMap((handle) =>
    handle instanceof Socket && handle.remotePort !== undefined ? [handle.remotePort] : [],
  );
}

function listeningPorts(): readonly number[] {
  return handles().flatMap((handle) => {
    const address = handle instanceof Server ? handle.address() : null;
    return address === null || typeof address === 'string' ? [] : [address.port];
  });
}

/** Looks at every AbortSignal that is listened to, and at Node's warnings of listeners that pile up. */
export interface ListenerWatch {
  /** Node warned of none, and on no signal did more listeners gather than one call leaves on its own. */
  expectNone(): void;
  end(): void;
}

/** Begins to look; `end` must be called. */
export function watchListeners(): ListenerWatch {
  const warnings: string[] = [];
  const onWarning = (warning: Error) => {
    if (warning.name === 'MaxListenersExceededWarning') warnings.push(warning.message);
  };
  process.on('warning', onWarning);
  const signals = new Set<AbortSignal>();
  const { prototype } = AbortSignal;
  const inherited = EventTarget.prototype.addEventListener;
  prototype.addEventListener = function (
    this: AbortSignal,
    ...args: Parameters<EventTarget['addEventListener']>
  ) {
    signals.add(this);
    Reflect.apply(inherited, this, args);
  };
  return {
    expectNone: () => {
      expect(warnings).toEqual([]);
      // The simulated panel's own signal carries a listener for each call that hangs, and says so.
      const ours = [...signals].filter((signal) => !signal.aborted && getMaxListeners(signal) !== 0);
      const most = Math.max(0, ...ours.map((signal) => getEventListeners(signal, 'abort').length));
      expect(most, 'listeners left on one signal').toBeLessThanOrEqual(MOST_OF_ONE_CALL);
      signals.clear();
    },
    end: () => {
      process.off('warning', onWarning);
      Reflect.deleteProperty(prototype, 'addEventListener');
    },
  };
}
