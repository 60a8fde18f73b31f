import { getEventListeners, getMaxListeners } from 'node:events';
import { Server, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
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

/** Waits until no more keeps the process alive than did before. */
export async function expectResources(before: Readonly<Record<string, number>>): Promise<void> {
  const more = () => Object.entries(activeResources()).filter(([kind, count]) => count > (before[kind] ?? 0));
  const giveUpAt = performance.now() + PATIENCE_MS;
  // Not vi.waitFor: its own timers would be counted.
  while (more().length > 0 && performance.now() < giveUpAt) await delay(10);
  expect(more(), `more keeps the process alive than before (${JSON.stringify(before)})`).toEqual([]);
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
  // Node tells by no public means which sockets there are, only how many.
  const list = Reflect.get(process, '_getActiveHandles') as () => readonly unknown[];
  return list();
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
      expect(most, 'listeners left on one signal').toBeLessThanOrEqual(MOST_OF_ONE_CALL);
      signals.clear();
    },
    end: () => {
      process.off('warning', onWarning);
      Reflect.deleteProperty(prototype, 'addEventListener');
    },
  };
}

// The simulated panel's own signal carries a listener for each call that hangs, and says so by a limit of 0: Node then throws.
function isLimited(signal: AbortSignal): boolean {
  try {
    return getMaxListeners(signal) > 0;
  } catch {
    return false;
  }
}
