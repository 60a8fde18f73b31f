import { getEventListeners, getMaxListeners } from 'node:events';
import { Server, Socket } from 'node:net';
import { expect } from 'vitest';
import { eventually } from './eventually.ts';
import type { TestClock } from './test-time.ts';

/** A finished call may leave this many listeners on a signal that only it uses and that is freed with it. */
const MAX_OF_ONE_CALL = 2;

/** The number of active resources that keep the process alive, by kind. */
export function activeResources(): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/** Waits until no more resources keep the process alive than before. */
export async function expectResources(before: Readonly<Record<string, number>>): Promise<void> {
  const more = () => Object.entries(activeResources()).filter(([kind, count]) => count > (before[kind] ?? 0));
  const message = `more resources keep the process alive than before (${JSON.stringify(before)})`;
  // The wait's own timer has fired when it checks, so it isn't counted.
  await eventually(() => expect(more(), message).toEqual([]));
}

/** Asserts that the stopped exporter has left no timer, no socket to these ports, and no listener on its own port. */
export async function expectNothingLeft(
  clock: TestClock,
  ports: readonly number[],
  url: string,
): Promise<void> {
  await eventually(() => {
    // A name lookup can't be interrupted, and its deadline ends with it.
    expect(clock.pending, 'timers of the exporter after its stop').toBe(0);
    expect(clientPorts().filter((port) => ports.includes(port))).toEqual([]);
    expect(listeningPorts()).not.toContain(Number(new URL(url).port));
  });
}

function handles(): readonly unknown[] {
  // Node has no public API that returns the open sockets, only their number.
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

/** Watches every AbortSignal with listeners, and Node's warnings about accumulating listeners. */
export interface ListenerWatch {
  /**
   * Asserts that Node gave no warning, and that no signal accumulated more listeners than one call leaves on its own signal.
   */
  expectNone(): void;
  end(): void;
}

/** Starts watching; `end` must be called. */
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

// The simulated panel's own signal has a listener for each hanging call, and declares that with a limit of 0; Node then
// throws.
function isLimited(signal: AbortSignal): boolean {
  try {
    return getMaxListeners(signal) > 0;
  } catch {
    return false;
  }
}
