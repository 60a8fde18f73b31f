import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runUntilSignal, type Service } from '../../../src/commands/run-until-signal.ts';

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** The listeners before a test. */
let before: ReadonlyMap<NodeJS.Signals, readonly NodeJS.SignalsListener[]>;

// Removes other listeners, which would end the process.
beforeEach(() => {
  before = new Map(SIGNALS.map((signal) => [signal, process.listeners(signal)]));
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  for (const signal of SIGNALS) {
    process.removeAllListeners(signal);
    for (const listener of before.get(signal) ?? []) process.on(signal, listener);
  }
});

/** A service that records the calls of its methods. The test decides when they end. */
class NotedService implements Service {
  readonly asked: string[] = [];
  /** Settles when the start is complete. */
  starting: Promise<void> = Promise.resolve();
  /** Settles when the stop is complete. */
  stopping: Promise<void> = Promise.resolve();

  start(): Promise<void> {
    this.asked.push('start');
    return this.starting;
  }

  stop(): Promise<void> {
    this.asked.push('stop');
    return this.stopping;
  }
}

class ReloadableService extends NotedService {
  async reload(): Promise<void> {
    this.asked.push('reload');
  }
}

/** Lets promises settle. */
const settle = () => vi.advanceTimersByTimeAsync(0);

it.each(['SIGTERM', 'SIGINT'] as const)('%s stops a service that was started', async (signal) => {
  const service = new NotedService();
  const run = runUntilSignal(service);
  await settle();
  expect(service.asked).toEqual(['start']);
  process.emit(signal);
  await run;
  expect(service.asked).toEqual(['start', 'stop']);
});

it('a signal during the start stops the service once it has started', async () => {
  const service = new NotedService();
  let started: () => void = () => undefined;
  service.starting = new Promise((resolve) => (started = resolve));
  const run = runUntilSignal(service);
  process.emit('SIGTERM');
  await settle();
  expect(service.asked).toEqual(['start']);
  started();
  await run;
  expect(service.asked).toEqual(['start', 'stop']);
});

it('a service that fails to start is stopped, too', async () => {
  const service = new NotedService();
  service.starting = Promise.reject(new Error('the port is in use'));
  await expect(runUntilSignal(service)).rejects.toThrow('the port is in use');
  expect(service.asked).toEqual(['start', 'stop']);
});

it('a second signal ends the process at once', async () => {
  const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never);
  const service = new NotedService();
  service.stopping = new Promise(() => undefined);
  const run = runUntilSignal(service);
  await settle();
  process.emit('SIGINT');
  expect(exit).not.toHaveBeenCalled();
  process.emit('SIGTERM');
  expect(exit).toHaveBeenCalledWith(1);
  const outcome = run.catch(String);
  await vi.advanceTimersByTimeAsync(4_500);
  expect(await outcome).toContain('not stopped');
});

describe('a service that hangs', () => {
  it('is abandoned 4.5 s after the signal', async () => {
    const service = new NotedService();
    service.stopping = new Promise(() => undefined);
    const ended = vi.fn<() => void>();
    const run = runUntilSignal(service).catch((error: unknown) => {
      ended();
      return error;
    });
    await settle();
    process.emit('SIGTERM');
    await vi.advanceTimersByTimeAsync(4_499);
    expect(ended).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(await run).toEqual(new Error('not stopped within 4.5 s'));
  });

  it('ends with the process 4.9 s after the signal, by the same one', async () => {
    const kill = vi.spyOn(process, 'kill').mockReturnValue(true);
    const run = runUntilSignal(new NotedService());
    await settle();
    process.emit('SIGTERM', 'SIGTERM');
    await run;
    await vi.advanceTimersByTimeAsync(4_899);
    expect(kill).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(kill.mock.calls).toEqual([[process.pid, 'SIGTERM']]);
    // The signal then ends the process again.
    expect(process.listenerCount('SIGTERM')).toBe(0);
  });
});

describe('SIGHUP', () => {
  it('reloads the service each time', async () => {
    const service = new ReloadableService();
    const run = runUntilSignal(service);
    await settle();
    process.emit('SIGHUP');
    process.emit('SIGHUP');
    expect(service.asked).toEqual(['start', 'reload', 'reload']);
    process.emit('SIGTERM');
    await run;
  });

  it('during the start reloads the service once, after it', async () => {
    const service = new ReloadableService();
    let started: () => void = () => undefined;
    service.starting = new Promise((resolve) => (started = resolve));
    const run = runUntilSignal(service);
    process.emit('SIGHUP');
    process.emit('SIGHUP');
    await settle();
    expect(service.asked).toEqual(['start']);
    started();
    await settle();
    expect(service.asked).toEqual(['start', 'reload']);
    process.emit('SIGTERM');
    await run;
  });

  it('has its default meaning for a service that can not reload', async () => {
    const count = process.listenerCount('SIGHUP');
    const run = runUntilSignal(new NotedService());
    await settle();
    expect(process.listenerCount('SIGHUP')).toBe(count);
    process.emit('SIGTERM');
    await run;
  });
});
