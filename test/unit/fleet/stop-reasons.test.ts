import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { NO_STOPS, type StopReason } from '../../../src/domain/reading.ts';
import { type DecidedStop, StopReasons } from '../../../src/fleet/stop-reasons.ts';
import type { DaemonWords } from '../../../src/panel/dialect.ts';

const AT = 1_000_000;

let decided: DecidedStop[];
let reasons: StopReasons;

beforeEach(() => {
  decided = [];
  reasons = new StopReasons((stop) => decided.push(stop));
});

const code = (value: number): DaemonWords => ({ kind: 'exit code', code: value });
const killed = (value: boolean): DaemonWords => ({ kind: 'out of memory', killed: value });
const DETECTED: DaemonWords = { kind: 'crash detected' };
const ABORTED: DaemonWords = { kind: 'restart aborted' };
const DISABLED: DaemonWords = { kind: 'restart disabled' };
const DISK: DaemonWords = { kind: 'disk full' };

describe('a stop without a stopping event before it', () => {
  it.each<[title: string, words: readonly DaemonWords[], reason: StopReason]>([
    ['a crash', [DETECTED, code(1), killed(false)], 'crashed'],
    ['a kill by someone else', [DETECTED, code(137), killed(false)], 'crashed'],
    ['out of memory', [DETECTED, code(137), killed(true)], 'out_of_memory'],
    ['out of memory with a clean exit', [DETECTED, code(0), killed(true)], 'out_of_memory'],
    ['a clean exit', [DETECTED, code(0), killed(false)], 'exited'],
    ['a clean exit without the first line', [code(0), killed(false)], 'exited'],
    ['a clean exit without the last line', [DETECTED, code(0)], 'exited'],
    ['a crash without the last line', [DETECTED, code(1)], 'crashed'],
    ['out of memory without the exit code', [DETECTED, killed(true)], 'out_of_memory'],
    // With the default settings of a node this may also be a clean exit.
    ['an unknown exit code, not out of memory', [DETECTED, killed(false)], 'unknown'],
    ['only the first line', [DETECTED], 'unknown'],
    ['only the last line', [ABORTED], 'unknown'],
    ['lines in a different order', [killed(true), code(137), DETECTED], 'out_of_memory'],
    ['disabled crash detection', [DISABLED], 'unknown'],
    ['no lines', [], 'unknown'],
  ])("is explained by the daemon's messages: %s", (_title, words, reason) => {
    reasons.stopped({ at: AT, seen: 'happening' });
    for (const one of words) reasons.daemonWords(one, AT + 50);
    expect([reasons.counts, reasons.last]).toEqual([NO_STOPS, undefined]);
    reasons.decide(AT + 10_000);
    expect(reasons.last).toMatchObject({ at: AT, reason });
    expect(reasons.counts).toEqual({ ...NO_STOPS, [reason]: 1 });
    expect(reasons.dueAt).toBeUndefined();
    reasons.decide(AT + 20_000);
    expect(decided).toHaveLength(1);
  });

  it('is decided when its messages are complete and no late stopping event is possible, or after ten seconds', () => {
    reasons.stopped({ at: AT, seen: 'happening' });
    expect(reasons.dueAt).toBe(AT + 10_000);
    reasons.daemonWords(code(1), AT + 10);
    expect(reasons.dueAt).toBe(AT + 10_000);
    reasons.daemonWords(killed(false), AT + 20);
    expect(reasons.dueAt).toBe(AT + 2_000);
    reasons.decide(AT + 1_999);
    expect(decided).toEqual([]);
    reasons.decide(AT + 2_000);
    expect(decided).toMatchObject([{ reason: 'crashed', exitCode: 1, isRestartAborted: false }]);
    expect(reasons.lastExitCode).toBe(1);
  });

  it('ignores messages more than ten seconds after it', () => {
    reasons.stopped({ at: AT, seen: 'happening' });
    reasons.daemonWords(code(1), AT + 10_001);
    reasons.daemonWords(ABORTED, AT + 10_001);
    reasons.settle();
    expect(reasons.counts).toEqual({ ...NO_STOPS, unknown: 1 });
    expect(reasons.isRestartAborted).toBe(false);
  });

  it('is requested if a stopping event follows within two seconds, whatever the messages are', () => {
    reasons.stopped({ at: AT, seen: 'happening' });
    reasons.daemonWords(code(1), AT + 10);
    expect(reasons.lateStopping(AT + 2_000)).toBe(true);
    expect(reasons.counts).toEqual({ ...NO_STOPS, requested: 1 });
    expect(reasons.lateStopping(AT + 2_000)).toBe(false);
  });

  it('is not requested if the stopping event is later', () => {
    reasons.stopped({ at: AT, seen: 'happening' });
    expect(reasons.lateStopping(AT + 2_001)).toBe(false);
    reasons.settle();
    expect(reasons.counts).toEqual({ ...NO_STOPS, unknown: 1 });
  });

  it('with an aborted restart is shown until the next start', () => {
    reasons.stopped({ at: AT, seen: 'happening' });
    for (const one of [DETECTED, code(1), killed(false), ABORTED]) reasons.daemonWords(one, AT + 10);
    expect(reasons.isRestartAborted).toBe(true);
    reasons.decide(AT + 2_000);
    expect(decided).toMatchObject([{ isRestartAborted: true }]);
    expect(reasons.isRestartAborted).toBe(true);
    reasons.started();
    expect(reasons.isRestartAborted).toBe(false);
  });

  it('is decided with the known messages when the next stop comes', () => {
    reasons.stopped({ at: AT, seen: 'happening' });
    reasons.daemonWords(code(1), AT + 10);
    reasons.stopped({ at: AT + 3_000, seen: 'happening' });
    expect(reasons.counts).toEqual({ ...NO_STOPS, crashed: 1 });
    reasons.settle();
    expect(reasons.counts).toEqual({ ...NO_STOPS, crashed: 1, unknown: 1 });
  });
});

describe('a stop known only by states', () => {
  it.each<[title: string, stop: Parameters<StopReasons['stopped']>[0], reason: StopReason]>([
    ['after a stopping event', { at: AT, stoppingAt: AT - 9_000, seen: 'happening' }, 'requested'],
    ['after a gap', { at: AT, seen: 'after a gap' }, 'unknown'],
    ['between two polls', { at: AT, seen: 'by a poll' }, 'unknown'],
  ])('%s', (_title, stop, reason) => {
    reasons.stopped(stop);
    expect(reasons.counts).toEqual({ ...NO_STOPS, [reason]: 1 });
    reasons.daemonWords(code(1), AT + 10);
    expect(reasons.isAwaited).toBe(false);
    expect(reasons.lastExitCode).toBeUndefined();
  });
});

describe('a stop during the start', () => {
  it.each<[title: string, stoppingMs: number, words: readonly DaemonWords[], reason: StopReason]>([
    ['that the daemon abandoned immediately', 5, [], 'unknown'],
    ['that was requested', 3_000, [], 'requested'],
    ['that the daemon explains', 5, [code(1), killed(false)], 'crashed'],
    ['that the daemon explains after a stopping event', 3_000, [code(0)], 'exited'],
  ])('%s', (_title, stoppingMs, words, reason) => {
    reasons.stopped({ at: AT, stoppingAt: AT - stoppingMs, wasStarting: true, seen: 'happening' });
    for (const one of words) reasons.daemonWords(one, AT + 10);
    reasons.decide(AT + 10_000);
    expect(reasons.counts).toEqual({ ...NO_STOPS, [reason]: 1 });
  });
});

describe('a full disk', () => {
  it.each<[title: string, stop: Partial<Parameters<StopReasons['stopped']>[0]>]>([
    ['with a requested stop', { stoppingAt: AT - 100 }],
    ['without a stopping event', {}],
    ['with a stop in a gap', { seen: 'after a gap' }],
  ])('explains the stop within 90 s: %s', (_title, stop) => {
    reasons.daemonWords(DISK, AT - 90_000);
    reasons.stopped({ at: AT, seen: 'happening', ...stop });
    expect(reasons.counts).toEqual({ ...NO_STOPS, disk_full: 1 });
  });

  it('explains neither a later stop nor a second one', () => {
    reasons.daemonWords(DISK, AT - 90_001);
    reasons.stopped({ at: AT, stoppingAt: AT - 100, seen: 'happening' });
    reasons.daemonWords(DISK, AT);
    reasons.stopped({ at: AT + 10, seen: 'happening' });
    reasons.stopped({ at: AT + 20, stoppingAt: AT + 15, seen: 'happening' });
    expect(reasons.counts).toEqual({ ...NO_STOPS, disk_full: 1, requested: 2 });
  });
});

it('every stop is counted exactly once, whatever a game prints', () => {
  const words = fc.constantFrom(
    DETECTED,
    ABORTED,
    DISABLED,
    DISK,
    code(0),
    code(1),
    killed(true),
    killed(false),
  );
  const step = fc.record({
    afterMs: fc.integer({ min: 0, max: 15_000 }),
    what: fc.oneof(
      { weight: 6, arbitrary: words },
      { weight: 2, arbitrary: fc.constantFrom('stop', 'asked stop', 'late stopping', 'decide', 'start') },
    ),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let stops = 0;
      let at = AT;
      const seen: DecidedStop[] = [];
      const one = new StopReasons((stop) => seen.push(stop));
      for (const { afterMs, what } of steps) {
        at += afterMs;
        if (what === 'stop' || what === 'asked stop') {
          stops += 1;
          one.stopped({ at, seen: 'happening', ...(what === 'asked stop' && { stoppingAt: at - 5_000 }) });
        } else if (what === 'late stopping') one.lateStopping(at);
        else if (what === 'decide') one.decide(at);
        else if (what === 'start') one.started();
        else one.daemonWords(what, at);
      }
      one.settle();
      expect(Object.values(one.counts).reduce((sum, count) => sum + count, 0)).toBe(stops);
      expect(seen).toHaveLength(stops);
    }),
  );
});
