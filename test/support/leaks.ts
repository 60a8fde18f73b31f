// Checks that a stopped exporter leaves no timers, sockets or listeners behind.
import { getEventListeners, getMaxListeners } from 'node:events';
import { Server, Socket } from 'node:net';
import { expect } from 'vitest';
import { eventually } from './eventually.ts';
import type { TestClock } from './test-time.ts';

/**
 * The number of listeners that a finished call may leave on its own signal, which is freed with the
 * call.
 */
const MAX_OF_ONE_CALL = 2;

/** The number of resources that keep the process alive, by kind. */
export function activeResources(): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/** Waits until there are no more such resources than before. */
export async function expectResources(before: Readonly<Record<string, number>>): Promise<void> {
  const more = () => Object.entries(activeResources()).filter(([kind, count]) => count > (before[kind] ?? 0));
  const message = `more resources keep the process alive than before (${JSON.stringify(before)})`;
  // Without the wait's own timer, which has already fired when the check runs.
  await eventually(() => expect(more(), message).toEqual([]));
}

/**
 * Asserts that the stopped exporter has left no timer, no socket to these ports, and no listener on
 * its own port.
 */
export async function expectNothingLeft(
  clock: TestClock,
  ports: readonly number[],
  url: string,
): Promise<void> {
  await eventually(() => {
    // Lookups of names can't be interrupted, and their deadlines end with them.
    expect(clock.pending, 'timers of the exporter after its stop').toBe(0);
    expect(clientPorts().filter((port) => ports.includes(port))).toEqual([]);
    expect(listeningPorts()).not.toContain(Number(new URL(url).port));
  });
}

function handles(): readonly unknown[] {
  // Node.js has no public API that returns open sockets.
  const list = Reflect.get(process, '_getActiveHandles') as () => readonly unknown[];
  return list();
}

/** The remote ports of this process's sockets. */
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

/**
 * A watch over the listeners of every AbortSignal, and over Node.js' warnings about too many
 * listeners.
 */
export interface ListenerWatch {
  /**
   * Asserts that there was no warning, and that no signal has more listeners than one call leaves
   * on its own signal.
   */
  expectNone(): void;
  end(): void;
}

/** Starts a watch. The caller has to call `end`. */
export function watchListeners(): ListenerWatch {
  const warnings: string[] = [];
  const onWarning = (warning: Error) => {
    if (warning.name === 'MaxListenersExceededWarning') warnings.push(warning.message);
  };
  process.on('warning', onWarning);
  const signals = new Set<AbortSignal>();
  const { prototype } = AbortSignal;
  prototype.addEventListener = function (
    this: AbortSignal,
    ...args: Parameters<EventTarget['addEventListener']>
  ) {
    signals.add(this);
    EventTarget.prototype.addEventListener.apply(this, args);
  };
  return {
    expectNone: () => {
      expect(warnings).toEqual([]);
      const ours = [...signals].filter((signal) => !signal.aborted && isLimited(signal));
      const most = Math.max(0, ...ours.map((signal) => getEventListeners(signal, 'abort').length));
      expect(most, 'listeners left on one signal').toBeLessThanOrEqual(MAX_OF_ONE_CALL);
      signals.clear();
    },
    end: () => {
      process.off('warning', onWarning);
      Reflect.deleteProperty(prototype, 'addEventListener');
    },
  };
}

// The signal of the simulated panel has a listener for each hanging call, and therefore a limit of
// 0. Node.js throws in this case.
function isLimited(signal: AbortSignal): boolean {
  try {
    return getMaxListeners(signal) > 0;
  } catch {
    return false;
  }
}
