import fc from 'fast-check';
import { expect, it } from 'vitest';
import { NO_STOPS, type StopReason } from '../../../src/domain/reading.ts';
import type { ServerState } from '../../../src/domain/server.ts';
import { ServerRecord } from '../../../src/fleet/server-record.ts';
import type { DaemonWords } from '../../../src/panel/dialect.ts';
import { target } from '../../support/targets.ts';

/** What a daemon sends, at this many milliseconds after the stop began. */
type Sent = readonly [afterMs: number, event: ServerState | DaemonWords];

interface Kind {
  readonly reason: StopReason;
  readonly sends: readonly Sent[];
}

/** The words follow the state, from a goroutine of their own (server/crash.go of both versions of Wings). */
const crash = (code: number, killed: boolean): readonly Sent[] => [
  [0, 'offline'],
  [2, { kind: 'crash detected' }],
  [2, { kind: 'exit code', code }],
  [2, { kind: 'out of memory', killed }],
];

const KINDS: readonly Kind[] = [
  { reason: 'crashed', sends: crash(1, false) },
  { reason: 'exited', sends: crash(0, false) },
  { reason: 'out_of_memory', sends: crash(137, true) },
  // A kill, and a restart that fails.
  {
    reason: 'requested',
    sends: [
      [0, 'stopping'],
      [1, 'offline'],
    ],
  },
  {
    reason: 'requested',
    sends: [
      [0, 'stopping'],
      [150, 'offline'],
    ],
  },
];

/** How the daemon starts the server again: a start that fails, or is killed, doesn't get to `running`. */
const STARTS: readonly (readonly Sent[])[] = [
  [
    [0, 'starting'],
    [20, 'running'],
  ],
  [[0, 'starting']],
];

const AT = 10_000_000;
/** A word is at most this late, which is more than the daemon's own time limit for an event. */
const LATE_MS = 12;

it('two stops in quick succession are counted with their reasons, whichever words are late', () => {
  const kind = fc.constantFrom(...KINDS);
  const lateness = fc.array(fc.nat({ max: LATE_MS }), { minLength: 8, maxLength: 8 });
  const gap = fc.nat({ max: 3_000 });
  fc.assert(
    fc.property(
      kind,
      fc.constantFrom(...STARTS),
      gap,
      kind,
      lateness,
      (first, start, gapMs, second, late) => {
        const firstEnds = Math.max(...first.sends.map(([afterMs]) => afterMs));
        const startsAt = firstEnds + 1;
        const secondAt = startsAt + LATE_MS + Math.max(...start.map(([afterMs]) => afterMs)) + gapMs;
        const lives = [
          [AT, first.sends],
          [AT + startsAt, start],
          [AT + secondAt, second.sends],
        ] as const;
        const events = lives
          .flatMap(([at, sends]) => sends.map(([afterMs, event]) => ({ at: at + afterMs, event })))
          .map(({ at, event }, index) => ({
            at: typeof event === 'string' ? at : at + (late[index % late.length] ?? 0),
            event,
          }))
          .toSorted((one, other) => one.at - other.at);
        const record = new ServerRecord(target(), { socket: 60_000, poll: 60_000 });
        record.socketBegan();
        record.stateHint('running', AT - 100_000);
        for (const { at, event } of events) {
          record.decideStop(at);
          if (typeof event === 'string') record.stateHint(event, at);
          else record.daemonWords(event, at);
        }
        record.decideStop(AT + 60_000);
        const expected = { ...NO_STOPS };
        expected[first.reason] += 1;
        expected[second.reason] += 1;
        const {
          stops,
          last_stop: last,
          starts_total: starts,
        } = record.snapshot(AT + 60_000, { toUnixMs: (at) => at });
        expect({ stops, last: last?.reason, starts }).toEqual({
          stops: expected,
          last: second.reason,
          starts: 1,
        });
      },
    ),
    { numRuns: 2_000 },
  );
});
