import { once } from 'node:events';
import { expect, it } from 'vitest';
import { interruptible } from '../../../src/commands/interruptible.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
const listeners = () => SIGNALS.map((signal) => process.listenerCount(signal));

it.each(SIGNALS)('%s aborts the work, and the next one ends the process', async (signal) => {
  const before = listeners();
  const seen = await interruptible(async (scope) => {
    const isAborted = [scope.aborted];
    process.emit(signal);
    isAborted.push(scope.aborted);
    return [isAborted, process.listenerCount(signal) - (before[SIGNALS.indexOf(signal)] ?? 0)];
  });
  expect(seen).toEqual([[false, true], 0]);
  expect(listeners()).toEqual(before);
});

it('work that fails leaves no listeners', async () => {
  const before = listeners();
  await expect(interruptible(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  expect(listeners()).toEqual(before);
});

it('prompts and calls that all listen to the signal are no leak that Node warns of', async () => {
  const warnings: Error[] = [];
  const seen = (warning: Error) => warnings.push(warning);
  process.on('warning', seen);
  await interruptible(async (scope) => {
    for (let calls = 0; calls < 20; calls += 1) scope.addEventListener('abort', () => undefined);
  });
  // Node.js emits warnings in later turns, in order, so all others come before this one.
  const last = once(process, 'warning');
  process.emitWarning('the last one', 'LastWarning');
  await last;
  process.off('warning', seen);
  expect(warnings.map(({ name }) => name)).toEqual(['LastWarning']);
});
