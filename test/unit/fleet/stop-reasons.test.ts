import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { NO_STOPS, type StopReason } from '../../../src/domain/reading.ts';
import { type DecidedStop, type ObservedStop, StopReasons } from '../../../src/fleet/stop-reasons.ts';
import type { DaemonWords } from '../../../src/panel/dialect.ts';

const AT = 1_000_000;

let decided: DecidedStop[];
let reasons: StopReasons;

beforeEach(() => {
  decided = [];
  reasons = new StopReasons((stop) => decided.push(stop));
});

const stop = (at: number, more: Partial<ObservedStop> = {}) =>
  reasons.stopped({ at, run: 1, seen: 'happening', ...more });
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
    stop(AT);
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
    stop(AT);
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
    stop(AT);
    reasons.daemonWords(code(1), AT + 10_001);
    reasons.daemonWords(ABORTED, AT + 10_001);
    reasons.settle();
    expect(reasons.counts).toEqual({ ...NO_STOPS, unknown: 1 });
    expect(reasons.isRestartAborted).toBe(false);
  });

  it('is requested if a stopping event follows within two seconds, whatever the messages are', () => {
    stop(AT);
    reasons.daemonWords(code(1), AT + 10);
    expect(reasons.lateStopping(AT + 2_000)).toBe(true);
    expect(reasons.counts).toEqual({ ...NO_STOPS, requested: 1 });
    expect(reasons.lateStopping(AT + 2_000)).toBe(false);
  });

  it('is not requested if the stopping event is later', () => {
    stop(AT);
    expect(reasons.lateStopping(AT + 2_001)).toBe(false);
    reasons.settle();
    expect(reasons.counts).toEqual({ ...NO_STOPS, unknown: 1 });
  });

  it('with an aborted restart is shown until the next start', () => {
    stop(AT);
    for (const one of [DETECTED, code(1), killed(false), ABORTED]) reasons.daemonWords(one, AT + 10);
    expect(reasons.isRestartAborted).toBe(true);
    reasons.decide(AT + 2_000);
    expect(decided).toMatchObject([{ isRestartAborted: true }]);
    expect(reasons.isRestartAborted).toBe(true);
    reasons.started();
    expect(reasons.isRestartAborted).toBe(false);
  });

  it('is decided with the known messages when the next stop comes', () => {
    stop(AT);
    reasons.daemonWords(code(1), AT + 10);
    stop(AT + 3_000);
    expect(reasons.counts).toEqual({ ...NO_STOPS, crashed: 1 });
    reasons.settle();
    expect(reasons.counts).toEqual({ ...NO_STOPS, crashed: 1, unknown: 1 });
  });
});

describe('a stop known only by states', () => {
  it.each<[title: string, how: Partial<ObservedStop>, reason: StopReason]>([
    ['after a stopping event', { wasStopping: true }, 'requested'],
    ['after a gap', { seen: 'after a gap' }, 'unknown'],
    ['between two polls', { seen: 'by a poll' }, 'unknown'],
  ])('%s', (_title, how, reason) => {
    stop(AT, how);
    expect(reasons.counts).toEqual({ ...NO_STOPS, [reason]: 1 });
    reasons.daemonWords(code(1), AT + 10);
    expect(reasons.isAwaited).toBe(false);
    expect(reasons.lastExitCode).toBeUndefined();
  });
});

describe('two stops within moments', () => {
  it("are each explained by the daemon's own lines, in their order", () => {
    stop(AT);
    stop(AT + 500);
    for (const word of [DETECTED, code(1), killed(false)]) reasons.daemonWords(word, AT + 510);
    for (const word of [DETECTED, code(137), killed(true), ABORTED]) reasons.daemonWords(word, AT + 520);
    reasons.decide(AT + 3_000);
    expect(decided).toMatchObject([
      { at: AT, reason: 'crashed', exitCode: 1, isRestartAborted: false },
      { at: AT + 500, reason: 'out_of_memory', exitCode: 137, isRestartAborted: true },
    ]);
    expect(reasons.lastExitCode).toBe(137);
  });

  it('keep the words on the first if someone requested the second', () => {
    stop(AT);
    stop(AT + 5, { wasStopping: true });
    for (const word of [DETECTED, code(1), killed(false)]) reasons.daemonWords(word, AT + 10);
    reasons.decide(AT + 2_000);
    expect(reasons.counts).toEqual({ ...NO_STOPS, crashed: 1, requested: 1 });
    expect([reasons.lastExitCode, reasons.last?.reason]).toEqual([1, 'requested']);
  });

  it('are not mixed up if the words on the first were lost', () => {
    stop(AT);
    stop(AT + 2_001);
    for (const word of [DETECTED, code(1), killed(false)]) reasons.daemonWords(word, AT + 2_010);
    reasons.decide(AT + 5_000);
    expect(decided).toMatchObject([{ reason: 'unknown' }, { reason: 'crashed', exitCode: 1 }]);
  });
});

describe('a full disk', () => {
  it.each<[title: string, how: Partial<ObservedStop>]>([
    ['with a requested stop', { wasStopping: true }],
    ['without a stopping event', {}],
    ['with a stop in a gap', { seen: 'after a gap' }],
  ])('explains the stop within 90 s: %s', (_title, how) => {
    reasons.daemonWords(DISK, AT - 90_000);
    stop(AT, how);
    expect(reasons.counts).toEqual({ ...NO_STOPS, disk_full: 1 });
  });

  it("doesn't explain a later stop or a second one", () => {
    reasons.daemonWords(DISK, AT - 90_001);
    stop(AT, { wasStopping: true });
    reasons.daemonWords(DISK, AT);
    stop(AT + 10);
    stop(AT + 20, { wasStopping: true });
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
          one.stopped({ at, run: stops, seen: 'happening', wasStopping: what === 'asked stop' });
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
