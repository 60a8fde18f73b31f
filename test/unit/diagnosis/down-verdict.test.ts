import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type OffFacts, whyDown } from '../../../src/diagnosis/down-verdict.ts';
import { STOP_REASONS } from '../../../src/domain/stops.ts';
import { STRIP_STATES } from '../../../src/domain/strip.ts';
import { ServerRecord } from '../../../src/fleet/server-record.ts';
import { attentionGroup } from '../../../src/status-page/data/attention-codes.ts';
import { countedProblem } from '../../../src/status-page/data/counted-problem.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { READ_AT } from '../../support/readings.ts';
import { sampleOf } from '../../support/samples.ts';
import { target } from '../../support/targets.ts';

const OFF: OffFacts = {
  isExpected: true,
  reason: undefined,
  stoppedForSeconds: Number.NaN,
  isRestartAborted: false,
  isStopAwaited: false,
};

describe('a server that is off', () => {
  it.each<[string, Partial<OffFacts>, string | undefined]>([
    ['and should run', {}, 'off'],
    ['whose stop is not explained yet', { isStopAwaited: true }, undefined],
    ['after a crash', { reason: 'crashed' }, 'crashed'],
    ['after a crash, and its node gave up', { reason: 'crashed', isRestartAborted: true }, 'gave_up'],
    ['and may be', { isExpected: false }, undefined],
    [
      'and may be, after a recent crash',
      { isExpected: false, reason: 'disk_full', stoppedForSeconds: 899 },
      'crashed',
    ],
    [
      'and may be, after an old crash',
      { isExpected: false, reason: 'crashed', stoppedForSeconds: 900 },
      undefined,
    ],
    ['and may be, after its node gave up', { isExpected: false, isRestartAborted: true }, undefined],
    ['without a sign that it should run', { isExpected: undefined }, undefined],
    ['for an unknown reason', { isExpected: undefined, reason: 'unknown' }, 'off'],
    [
      'on request, without a sign that it should run',
      { isExpected: undefined, reason: 'requested' },
      undefined,
    ],
  ])('%s', (_, changes, expected) => expect(whyDown({ ...OFF, ...changes })).toBe(expected));

  it('has a reason for every reason of a stop', () => {
    for (const reason of STOP_REASONS) expect(whyDown({ ...OFF, reason })).toBeDefined();
  });
});

/** The events of a server, a few seconds apart. */
const events = fc.array(
  fc.constantFrom(
    'running',
    'starting',
    'stopping',
    'offline',
    'exit code 0',
    'exit code 1',
    'out of memory',
    'restart aborted',
    'disk full',
    'gap',
    'suspended',
  ),
  { minLength: 1, maxLength: 12 },
);

const clock = new ManualClock(READ_AT);

/**
 * Asserts that the newest point is red if the row is red. With `isOnlyIf`, also the reverse, which
 * is only true if the point contains no earlier events.
 */
function expectSame(record: ServerRecord, now: number, isOnlyIf = false): void {
  const attention = countedProblem(record.snapshot(now, clock));
  const isDown = attention !== undefined && attentionGroup(attention) === 'down';
  const isRed = record.strip(now)?.worst.at(-1) === STRIP_STATES.indexOf('down');
  if (isDown || isOnlyIf) expect(isRed, attention).toBe(isDown);
}

it('the newest point of the strip is red exactly if the row is, whatever happened', () => {
  const expects = fc.constantFrom('auto' as const, 'running' as const, 'any' as const);
  fc.assert(
    fc.property(events, expects, fc.constantFrom(1, 15, 400), (happenings, expect_, seconds) => {
      const record = new ServerRecord(target({ expect: expect_ }), { socket: 60_000, poll: 60_000 });
      record.setCollection({ condition: 'streaming' }, 'streaming');
      let now = READ_AT;
      let state: 'running' | 'starting' | 'stopping' | 'offline' = 'running';
      for (const event of happenings) {
        now += seconds * 1_000;
        if (event === 'gap') record.interrupted();
        else if (event === 'suspended')
          record.setCollection(
            { condition: 'streaming', problem: { cause: 'suspended', detail: '' } },
            'streaming',
          );
        else if (event === 'exit code 0' || event === 'exit code 1')
          record.daemonNotice({ kind: 'exit code', code: Number(event.at(-1)) }, now);
        else if (event === 'out of memory') record.daemonNotice({ kind: event, killed: true }, now);
        else if (event === 'restart aborted' || event === 'disk full')
          record.daemonNotice({ kind: event }, now);
        else {
          state = event;
          record.stateHint(event, now);
        }
        now += 11_000;
        record.decideStop(now);
        // Immediately, before another sample.
        if (record.isFresh(now)) expectSame(record, now);
        // Two minutes later, in a point without earlier events.
        now = (Math.floor(now / 120_000) + 2) * 120_000;
        record.socketSample(sampleOf({ state, uptimeMs: state === 'offline' ? 0 : 1_000 }), now);
        now += 1_000;
        record.socketSample(sampleOf({ state, uptimeMs: state === 'offline' ? 0 : 2_000 }), now);
        expectSame(record, now, true);
      }
    }),
    { numRuns: 300 },
  );
});
