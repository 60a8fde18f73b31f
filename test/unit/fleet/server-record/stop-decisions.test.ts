import { beforeEach, describe, expect, it } from 'vitest';
import { NO_STOPS } from '../../../../src/domain/reading.ts';
import { ServerRecord } from '../../../../src/fleet/server-record.ts';
import { collectingLogger } from '../../../support/logger.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { target } from '../../../support/targets.ts';

/** Node.js timers sometimes fire early. */
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
