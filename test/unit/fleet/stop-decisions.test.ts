import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { NO_STOPS, type StopReason } from '../../../src/domain/stops.ts';
import { powerAfter } from '../../../src/fleet/power.ts';
import type { Observation } from '../../../src/fleet/power-model.ts';
import { ServerRecord } from '../../../src/fleet/server-record.ts';
import { decisionDueAt } from '../../../src/fleet/stop-decisions.ts';
import { collectingLogger } from '../../support/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { target } from '../../support/targets.ts';
import { AT, after, LATER, NOTICES, seen } from './power-events.ts';

describe('the reason for a stop', () => {
  it.each<[title: string, notices: string, reason: StopReason]>([
    ['a crash', 'detected code1 notKilled', 'crashed'],
    ['a kill by someone else', 'detected code137 notKilled', 'crashed'],
    ['out of memory', 'detected code137 killed', 'out_of_memory'],
    ['out of memory with a clean exit', 'detected code0 killed', 'out_of_memory'],
    ['a clean exit', 'detected code0 notKilled', 'exited'],
    ['a clean exit without the first line', 'code0 notKilled', 'exited'],
    ['a clean exit without the last line', 'detected code0', 'exited'],
    ['a crash without the last line', 'detected code1', 'crashed'],
    ['out of memory without the exit code', 'detected killed', 'out_of_memory'],
    // With the default settings of a node, this may also be a clean exit.
    ['an unknown exit code, not out of memory', 'detected notKilled', 'unknown'],
    ['only the first line', 'detected', 'unknown'],
    ['only the last line', 'aborted', 'unknown'],
    ['lines in a different order', 'killed code137 detected', 'out_of_memory'],
    ['disabled crash detection', 'disabled', 'unknown'],
    ['no lines', '', 'unknown'],
  ])('is what the daemon prints after it: %s', (_title, notices, reason) => {
    const events = [
      '0 offline',
      ...notices
        .split(' ')
        .filter(Boolean)
        .map((word) => `50 ${word}`),
    ].join(', ');
    expect(after(events, 1_999)).toMatchObject({ stops: NO_STOPS, lastStop: undefined });
    expect(after(events)).toMatchObject({
      stops: { ...NO_STOPS, [reason]: 1 },
      lastStop: { at: AT, reason },
    });
  });

  it.each<[title: string, events: string, reasons: Partial<Record<StopReason, number>>]>([
    ['requested after stopping', '-500 stopping, 0 offline', { requested: 1 }],
    ['requested if stopping is late', '0 offline, 10 code1, 2000 stopping', { requested: 1 }],
    ['not requested if stopping is later', '0 offline, 2001 stopping', { unknown: 1 }],
    ['unknown after a gap', '-10 gap, 0 offline, 10 code1, 10 notKilled', { unknown: 1 }],
    ['what was known at a gap', '0 offline, 10 code1, 20 gap, 30 killed', { crashed: 1 }],
    ['unknown if the lines are late', '0 offline, 10001 code1, 10001 aborted', { unknown: 1 }],
    ['unknown if the lines come before', '-10 code1, -10 notKilled, 0 offline', { unknown: 1 }],
    ['a full disk, with stopping', '-90000 disk, -10 stopping, 0 offline', { disk_full: 1 }],
    ['a full disk, without stopping', '-90000 disk, 0 offline', { disk_full: 1 }],
    ['a full disk, in a gap', '-90000 disk, -10 gap, 0 offline', { disk_full: 1 }],
    ['no full disk if its line is older', '-90001 disk, -10 stopping, 0 offline', { requested: 1 }],
    [
      'a full disk for one stop only',
      '-5 disk, 0 offline, 5 running, 9 stopping, 10 offline',
      { disk_full: 1, requested: 1 },
    ],
  ])('is %s', (_title, events, reasons) => {
    expect(after(events).stops).toEqual({ ...NO_STOPS, ...reasons });
  });

  it.each([
    ['0 offline', 10_000],
    ['0 offline, 10 code1', 10_000],
    ['0 offline, 10 code1, 20 notKilled', 2_000],
    ['0 offline, 10 code1, 1900 notKilled', 2_400],
    ['', undefined],
  ])(
    'is decided once its lines are complete and no late stopping is possible, or after ten seconds: %s',
    (events, due) => {
      expect(decisionDueAt(after(events, 20))).toBe(due && AT + due);
    },
  );

  it('includes whether the node gave up restarting the server, which is shown until the next start', () => {
    const crash = '0 offline, 10 detected, 10 code1, 10 notKilled, 10 aborted';
    const lastStop = { notices: expect.arrayContaining(['restart aborted']), exitCode: 1 };
    expect(after(crash)).toMatchObject({ isRestartAborted: true, lastExitCode: 1, lastStop });
    expect(after(`${crash}, 5000 starting`).isRestartAborted).toBe(false);
  });

  it.each([
    ['0 offline, 10 disabled', true, 2_000],
    ['0 offline, 9999 disabled', true, 10_499],
    ['0 offline, 10001 disabled', false, undefined],
    ['0 disabled', false, undefined],
    ['0 stopping, 1 offline, 10 disabled', false, undefined],
    ['0 offline, 10 disabled, 5000 starting', false, undefined],
  ])('includes that nothing restarts it, without crash detection: %s', (events, isAborted, due) => {
    expect(after(events).isRestartAborted).toBe(isAborted);
    if (due !== undefined) {
      expect(decisionDueAt(after(events, 20))).toBe(AT + due);
      expect(after(events).lastStop).toMatchObject({ reason: 'unknown', exitCode: undefined });
    }
  });
});

describe('two stops within moments', () => {
  it.each([
    [
      'are each explained by their own lines, in order',
      '0 offline, 400 running, 500 offline, 510 code1, 510 notKilled, 520 code137, 520 killed',
      ['crashed 1', 'out_of_memory 137'],
    ],
    [
      'keep the lines of the first if someone requested the second',
      '0 offline, 2 running, 4 stopping, 5 offline, 10 detected, 10 code1, 10 notKilled',
      ['requested', 'crashed 1'],
    ],
    [
      'are not mixed up if the lines of the first were lost',
      '0 offline, 1000 running, 2001 offline, 2010 code1, 2010 notKilled',
      ['unknown', 'crashed 1'],
    ],
  ])('%s', (_title, events, reasons) => {
    const { decided } = after(events);
    expect(decided.map(({ reason, exitCode = '' }) => `${reason} ${exitCode}`.trim())).toEqual(reasons);
  });

  /**
   * The events of a daemon for each reason. Its messages follow the state, because a separate
   * goroutine sends them (`server/crash.go` of both versions of Wings).
   */
  const KINDS: readonly (readonly [StopReason, string])[] = [
    ['crashed', '0 offline, 2 detected, 2 code1, 2 notKilled'],
    ['exited', '0 offline, 2 detected, 2 code0, 2 notKilled'],
    ['out_of_memory', '0 offline, 2 detected, 2 code137, 2 killed'],
    // A kill, and a restart that fails.
    ['requested', '0 stopping, 1 offline'],
    ['requested', '0 stopping, 150 offline'],
  ];
  /** A start, and a start that fails or is killed before the state `running`. */
  const STARTS = ['0 starting, 20 running', '0 starting'];
  /** The maximum delay of a message, which exceeds the daemon's own time limit for an event. */
  const LATE_MS = 12;

  const parsed = (events: string) => events.split(', ').map((text) => text.split(' ') as [string, string]);
  const end = (events: string) => Math.max(...parsed(events).map(([ms]) => Number(ms)));
  const shifted = (events: string, byMs: number) =>
    parsed(events).map(([ms, what]) => [Number(ms) + byMs, what] as const);

  it('are counted with their reasons, whichever lines are late', () => {
    const kind = fc.constantFrom(...KINDS);
    const late = fc.array(fc.nat({ max: LATE_MS }), { minLength: 8, maxLength: 8 });
    const gap = fc.nat({ max: 3_000 });
    fc.assert(
      fc.property(
        kind,
        fc.constantFrom(...STARTS),
        gap,
        kind,
        late,
        (first, start, gapMs, second, lateness) => {
          const startsAt = end(first[1]) + 1;
          const secondAt = startsAt + LATE_MS + end(start) + gapMs;
          const events = [
            ...shifted(first[1], 0),
            ...shifted(start, startsAt),
            ...shifted(second[1], secondAt),
          ]
            .map(
              ([ms, what], index) => [ms + (what in NOTICES ? (lateness[index % 8] ?? 0) : 0), what] as const,
            )
            .toSorted(([one], [other]) => one - other);
          const timed = events.flatMap(([ms, what]): Observation[] => [
            { seen: 'time', at: AT + ms },
            seen(`${ms} ${what}`),
          ]);
          const power = powerAfter([seen('-100000 running'), ...timed, { seen: 'time', at: AT + LATER }]);
          const stops = { ...NO_STOPS };
          stops[first[0]] += 1;
          stops[second[0]] += 1;
          expect(power).toMatchObject({ stops, lastStop: { reason: second[0] }, starts: 1 });
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

it('at most three stops wait for their reasons, however many states a node sends', () => {
  let power = after('');
  for (let count = 0; count < 1_000; count += 1) {
    power = powerAfter([seen('0 offline'), seen('0 running')], power);
    expect(power.pending.length).toBeLessThanOrEqual(3);
  }
  const { stops } = powerAfter([{ seen: 'time', at: AT + LATER }], power);
  expect(stops).toEqual({ ...NO_STOPS, unknown: 1_000 });
});

describe('in the record of a server', () => {
  /** A clock whose timers fire early, as those of Node.js sometimes do. */
  class EarlyClock extends ManualClock {
    override schedule(delayMs: number, run: () => void) {
      return super.schedule(delayMs - 0.5, run);
    }
  }

  let clock: ManualClock;
  let log: ReturnType<typeof collectingLogger>;
  let record: ServerRecord;

  beforeEach(() => {
    clock = new EarlyClock();
    log = collectingLogger();
    record = new ServerRecord(target({ name: 'creative' }), { socket: 60_000, poll: 60_000 }, { clock, log });
    record.interrupted();
    record.stateHint('running', clock.now());
  });

  const messages = () => log.lines.map(({ level, message }) => `${level} ${message}`);

  async function crash(code: number, killed: boolean): Promise<void> {
    record.stateHint('offline', clock.now());
    record.daemonNotice({ kind: 'exit code', code }, clock.now());
    record.daemonNotice({ kind: 'out of memory', killed }, clock.now());
    await clock.advance(2_000);
  }

  it.each([100, 3_000])(
    'a restart that fails %i ms after a crash leaves the server expected to run',
    async (startMs) => {
      record.stateHint('offline', clock.now());
      record.daemonNotice({ kind: 'exit code', code: 1 }, clock.now());
      record.daemonNotice({ kind: 'out of memory', killed: false }, clock.now());
      record.stateHint('starting', clock.now());
      await clock.advance(startMs);
      record.stateHint('stopping', clock.now());
      record.stateHint('offline', clock.now());
      record.daemonNotice({ kind: 'restart aborted' }, clock.now());
      await clock.advance(20_000);
      const { stops, expected_running, automatic_restart_aborted } = record.snapshot(clock.now(), clock);
      expect({ stops, expected_running, automatic_restart_aborted }).toEqual({
        stops: { ...NO_STOPS, crashed: 1, requested: 1 },
        expected_running: 1,
        automatic_restart_aborted: 1,
      });
      expect(messages().filter((message) => message.includes('the node gave up restarting it'))).toHaveLength(
        1,
      );
    },
  );

  describe('a stop', () => {
    it('with complete messages is decided after two seconds, even if the timer fires early', async () => {
      await crash(1, false);
      expect(record.snapshot(clock.now(), clock).stops).toEqual({ ...NO_STOPS, crashed: 1 });
      expect(clock.pending).toBe(0);
    });

    it('without messages is decided after ten seconds, and is not logged', async () => {
      record.stateHint('offline', clock.now());
      await clock.advance(9_000);
      expect(record.snapshot(clock.now(), clock).stops).toBe(NO_STOPS);
      await clock.advance(1_000);
      expect(record.snapshot(clock.now(), clock).stops).toEqual({ ...NO_STOPS, unknown: 1 });
      expect(messages()).toEqual([]);
    });

    it('is decided with what is known when its session ends', () => {
      record.stateHint('offline', clock.now());
      record.setCollection({ condition: 'stopped' }, 'none');
      expect(record.snapshot(clock.now(), clock).stops).toEqual({ ...NO_STOPS, unknown: 1 });
      expect(clock.pending).toBe(0);
    });

    it('that is a problem is logged once it is decided', async () => {
      await crash(137, true);
      expect(messages()).toEqual([
        'warn server creative crashed (exit code 137, out of memory); the node is restarting it',
      ]);
    });

    it('on a node without crash detection is one after which nothing restarts the server', async () => {
      record.stateHint('offline', clock.now());
      record.daemonNotice({ kind: 'restart disabled' }, clock.now());
      await clock.advance(2_000);
      const { stops, automatic_restart_aborted } = record.snapshot(clock.now(), clock);
      expect({ stops, automatic_restart_aborted }).toEqual({
        stops: { ...NO_STOPS, unknown: 1 },
        automatic_restart_aborted: 1,
      });
    });

    it('because of a full disk is decided at once', () => {
      record.daemonNotice({ kind: 'disk full' }, clock.now());
      record.stateHint('offline', clock.now());
      expect(messages()).toEqual(['warn server creative was stopped by its node: disk limit exceeded']);
    });
  });
});
