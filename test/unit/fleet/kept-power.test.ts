import { describe, expect, it } from 'vitest';
import type { KeptServer } from '../../../src/domain/kept-server.ts';
import type { Snapshot } from '../../../src/domain/snapshot.ts';
import { NO_STOPS } from '../../../src/domain/stops.ts';
import { ServerRecord } from '../../../src/fleet/server-record.ts';
import { stripText } from '../../../src/status-page/data/strip-text.ts';
import { readStateText, stateText } from '../../../src/storage/state-text.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { type SampleValues, sampleOf } from '../../support/samples.ts';
import { target } from '../../support/targets.ts';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

/**
 * An exporter's view of a server. It has its own monotonic clock, and shares the system's wall
 * clock.
 */
class View {
  readonly clock: ManualClock;
  readonly record = new ServerRecord(target({ expect: 'auto' }), { socket: 60_000, poll: 60_000 });
  now = 1_000;

  constructor(startedUnixMs: number) {
    this.clock = new ManualClock(this.now);
    this.clock.unixOffsetMs = startedUnixMs - this.now;
  }

  after(seconds: number): void {
    this.now += seconds * SECOND;
  }

  frame(values: SampleValues): void {
    this.record.socketSample(sampleOf(values), this.now);
  }

  poll(values: SampleValues): void {
    this.record.pollSample(sampleOf(values), this.now, this.now);
  }

  status(state: 'running' | 'offline' | 'stopping' | 'starting'): void {
    this.record.stateHint(state, this.now);
  }

  exits(code: number, ...more: readonly 'restart aborted'[]): void {
    this.status('offline');
    this.record.daemonNotice({ kind: 'exit code', code }, this.now);
    this.record.daemonNotice({ kind: 'out of memory', killed: false }, this.now);
    for (const kind of more) this.record.daemonNotice({ kind }, this.now);
    this.after(10);
    this.record.decideStop(this.now);
  }

  get shown(): Snapshot {
    return this.record.snapshot(this.now, this.clock);
  }
}

const runningFor = (seconds: number): SampleValues => ({ state: 'running', uptimeMs: seconds * SECOND });
const OFF: SampleValues = { state: 'offline', uptimeMs: 0 };
const START = 1_700_000_000_000;

/** The stored data after it was written to the file and read again, as after a restart. */
function throughFile(kept: KeptServer | undefined): KeptServer {
  const read = readStateText([...stateText(kept === undefined ? [] : [kept])].join(''));
  const [server] = 'servers' in read ? read.servers : [];
  if (server === undefined) throw new Error('nothing was kept');
  return server;
}

/** Another exporter that starts this long after the end of the previous one. */
function restarted({ record, clock, now }: View, downSeconds: number, setBackSeconds = 0): View {
  const kept = throughFile(record.keep(now, clock));
  const view = new View(clock.toUnixMs(now) + (downSeconds - setBackSeconds) * SECOND);
  view.record.restore(kept, view.clock);
  view.after(1);
  return view;
}

interface Scene {
  readonly title: string;
  readonly before: (view: View) => void;
  readonly downSeconds: number;
  readonly first: (view: View) => void;
  /** None by default. */
  readonly starts?: number;
  readonly stops?: Partial<Snapshot['stops']>;
  readonly expected: number | undefined;
  readonly lastStop?: Partial<Snapshot['last_stop'] & object> | undefined;
}

const runs = (view: View) => view.frame(runningFor(100));
const isOff = (view: View) => {
  runs(view);
  view.after(1);
  view.status('stopping');
  view.status('offline');
  view.frame(OFF);
};

const isStopping = (view: View) => {
  runs(view);
  view.status('stopping');
};

const SCENES: readonly Scene[] = [
  {
    title: 'a server that runs on has not stopped',
    before: runs,
    downSeconds: 30,
    first: (view) => view.frame(runningFor(131)),
    expected: 1,
  },
  {
    title: 'one whose uptime grew by much less than the time was restarted, even if it grew',
    before: runs,
    downSeconds: 600,
    first: (view) => view.frame(runningFor(200)),
    starts: 1,
    stops: { unknown: 1 },
    expected: 1,
    lastStop: { reason: 'unknown', while_exporter_down: true },
  },
  {
    title: 'one with a lower uptime was restarted',
    before: runs,
    downSeconds: 30,
    first: (view) => view.frame(runningFor(5)),
    starts: 1,
    stops: { unknown: 1 },
    expected: 1,
    lastStop: { reason: 'unknown', while_exporter_down: true },
  },
  {
    title: 'a status before the first sample changes nothing about that',
    before: runs,
    downSeconds: 30,
    first: (view) => {
      view.status('running');
      view.frame(runningFor(5));
    },
    starts: 1,
    stops: { unknown: 1 },
    expected: 1,
    lastStop: { while_exporter_down: true },
  },
  {
    title: 'one that is off stopped, and whether it should run is unknown',
    before: runs,
    downSeconds: 30,
    first: (view) => view.frame(OFF),
    stops: { unknown: 1 },
    expected: undefined,
    lastStop: { reason: 'unknown', while_exporter_down: true },
  },
  {
    title: 'one that a poll shows as off stopped, and should still run',
    before: runs,
    downSeconds: 30,
    first: (view) => view.poll(OFF),
    stops: { unknown: 1 },
    expected: 1,
    lastStop: { reason: 'unknown', while_exporter_down: true },
  },
  {
    title: 'one that was stopping was stopped on request',
    before: isStopping,
    downSeconds: 5,
    first: (view) => view.frame(OFF),
    stops: { requested: 1 },
    expected: 0,
    lastStop: { reason: 'requested' },
  },
  {
    title: 'one that was stopping, and is polled, was stopped on request',
    before: isStopping,
    downSeconds: 5,
    first: (view) => view.poll(OFF),
    stops: { requested: 1 },
    expected: 0,
    lastStop: { reason: 'requested' },
  },
  {
    title: 'one that is off as before has not stopped again',
    before: isOff,
    downSeconds: 3_600,
    first: (view) => view.frame(OFF),
    expected: 0,
    lastStop: { reason: 'requested' },
  },
  {
    title: 'one that was off and runs was started',
    before: isOff,
    downSeconds: 3_600,
    first: (view) => view.frame(runningFor(60)),
    starts: 1,
    expected: 1,
    lastStop: { reason: 'requested' },
  },
  {
    title: 'one that was off and is polled as running was started',
    before: isOff,
    downSeconds: 3_600,
    first: (view) => view.poll(runningFor(60)),
    starts: 1,
    expected: 1,
  },
  {
    title: 'one that stopped just before, without a reason yet, has an unknown reason',
    before: (view) => {
      runs(view);
      view.status('offline');
      view.after(1);
    },
    downSeconds: 2,
    first: (view) => view.frame(OFF),
    expected: undefined,
    lastStop: { reason: 'unknown' },
  },
  {
    title: 'one that crashed and that its node gave up should run',
    before: (view) => {
      runs(view);
      view.exits(1, 'restart aborted');
    },
    downSeconds: 3_600,
    first: (view) => view.frame(OFF),
    expected: 1,
    lastStop: { reason: 'crashed', exit_code: 1 },
  },
  {
    title: 'one that exited by itself, and was not restarted within a minute, is allowed to be off',
    before: (view) => {
      runs(view);
      view.exits(0);
    },
    downSeconds: 120,
    first: (view) => view.frame(OFF),
    expected: 0,
    lastStop: { reason: 'exited', exit_code: 0 },
  },
  {
    title: 'a stop half a minute after the daemon reported the disk as full has that reason',
    before: (view) => {
      runs(view);
      view.record.daemonNotice({ kind: 'disk full' }, view.now);
    },
    downSeconds: 30,
    first: (view) => view.frame(OFF),
    stops: { disk_full: 1 },
    expected: 1,
    lastStop: { reason: 'disk_full' },
  },
  {
    title: 'one without an uptime, as old daemons send none, runs on',
    before: (view) => view.frame({ state: 'running' }),
    downSeconds: 30,
    first: (view) => view.frame({ state: 'running' }),
    expected: 1,
  },
];

describe('after a restart of the exporter', () => {
  it.each(SCENES)('$title', ({ before, downSeconds, first, starts, stops, expected, lastStop }) => {
    const view = new View(START);
    before(view);
    const next = restarted(view, downSeconds);
    first(next);
    expect(next.shown.starts_total).toBe(starts ?? 0);
    expect(next.shown.stops).toEqual({ ...NO_STOPS, ...stops });
    expect(next.shown.expected_running).toBe(expected);
    if (lastStop !== undefined) expect(next.shown.last_stop).toMatchObject(lastStop);
  });

  it.each(SCENES)(
    'once more, nothing else is counted: $title',
    ({ before, downSeconds, first, expected }) => {
      const view = new View(START);
      before(view);
      const next = restarted(view, downSeconds);
      first(next);
      const { last_stop: stop } = next.shown;
      const third = restarted(next, 1);
      const isOn = next.shown.state === 'running';
      third.frame(
        isOn ? { state: 'running', uptimeMs: (next.shown.uptime_milliseconds ?? 0) + 2 * SECOND } : OFF,
      );
      expect(third.shown).toMatchObject({ starts_total: 0, stops: NO_STOPS, expected_running: expected });
      expect(third.shown.last_stop).toEqual(stop);
    },
  );

  it('a stop after the first sample is not one of the time before it, even if polls show both', () => {
    const view = new View(START);
    view.poll(runningFor(100));
    const next = restarted(view, 60);
    next.poll(runningFor(161));
    next.after(60);
    next.poll(OFF);
    expect(next.shown.last_stop).toMatchObject({ reason: 'unknown' });
    expect(next.shown.last_stop).not.toHaveProperty('while_exporter_down');
  });

  it('all that was known of a server is known before its first sample', () => {
    const view = new View(START);
    runs(view);
    view.exits(137, 'restart aborted');
    const { last_stop, last_exit_code, automatic_restart_aborted, expected_running, unwanted_stops } =
      view.shown;
    expect(unwanted_stops).toHaveLength(1);
    const next = restarted(view, 60);
    expect(next.shown).toMatchObject({
      state: 'unknown',
      collection_up: 0,
      last_stop,
      last_exit_code,
      automatic_restart_aborted,
      expected_running,
      unwanted_stops,
    });
  });

  it('the state that a server is still in began when it did', () => {
    const view = new View(START);
    runs(view);
    const { state_changed_timestamp_seconds: since } = view.shown;
    const next = restarted(view, 60);
    next.frame(runningFor(161));
    expect(next.shown.state_changed_timestamp_seconds).toBe(since);
  });

  it('a server that is not seen again is kept as it was', () => {
    const view = new View(START);
    isOff(view);
    const kept = throughFile(view.record.keep(view.now, view.clock));
    const next = restarted(view, 60);
    expect(throughFile(next.record.keep(next.now, next.clock))).toEqual(kept);
  });

  it('of which nothing was ever known, nothing is kept', () => {
    const { record, now, clock } = new View(START);
    expect(record.keep(now, clock)).toBeUndefined();
  });

  it('stops of the last hour still make a crash loop', () => {
    const view = new View(START);
    for (let crash = 0; crash < 3; crash += 1) {
      view.frame(runningFor(50));
      view.after(50);
      view.exits(1);
      view.status('starting');
      view.after(1);
    }
    const next = restarted(view, 60);
    next.frame(runningFor(30));
    expect(next.shown.unwanted_stops.map(({ reason }) => reason)).toEqual([
      'crashed',
      'crashed',
      'crashed',
      'unknown',
    ]);
    next.after(HOUR);
    expect(next.shown.unwanted_stops).toEqual([]);
  });
});

describe('counters', () => {
  it('are 0 in the first scrape of a server, and count afterwards what happened before it', () => {
    const view = new View(START);
    runs(view);
    const next = restarted(view, 30);
    next.frame(OFF);
    const scrape = () => next.record.scraped(next.now, next.clock);
    expect(scrape()).toMatchObject({ state: 'offline', starts_total: 0, stops: NO_STOPS });
    expect(scrape().stops).toEqual({ ...NO_STOPS, unknown: 1 });
    expect(scrape().stops).toEqual({ ...NO_STOPS, unknown: 1 });
  });

  it('are as counted in the first scrape of a server that was not known', () => {
    const view = new View(START);
    runs(view);
    view.status('starting');
    expect(view.record.scraped(view.now, view.clock).starts_total).toBe(1);
  });
});

describe('a system clock that was set back by an hour', () => {
  it('makes no server stop or start', () => {
    const view = new View(START);
    runs(view);
    const next = restarted(view, 30, 3_600);
    next.frame(runningFor(131));
    expect(next.shown).toMatchObject({ starts_total: 0, stops: NO_STOPS, expected_running: 1 });
    expect(next.shown.state_changed_timestamp_seconds).toBeLessThan(next.shown.timestamp_seconds);
  });

  it('hides no restart after which the uptime is much lower', () => {
    const view = new View(START);
    view.frame(runningFor(5_000));
    const next = restarted(view, 300, 3_600);
    next.frame(runningFor(250));
    expect(next.shown).toMatchObject({ starts_total: 1, stops: { ...NO_STOPS, unknown: 1 } });
  });
});

describe('the strip', () => {
  it('continues, with nothing known while the exporter was down', () => {
    const view = new View(START);
    view.now = 0;
    for (let second = 0; second < 1_200; second += 1) {
      view.frame(runningFor(100 + second));
      view.after(1);
    }
    expect(stripText(view.record.strip(view.now))).toBe('u49r11;r1200');
    const next = restarted(view, 600);
    for (let second = 0; second < 120; second += 1) {
      next.frame(runningFor(1_901 + second));
      next.after(1);
    }
    const strip = stripText(next.record.strip(next.now));
    expect(strip).toMatch(/^u4[23]r1[01]u[45]r[12];r1320$/);
  });

  it('of more than two hours ago is gone', () => {
    const view = new View(START);
    runs(view);
    view.after(1);
    runs(view);
    const next = restarted(view, 3 * 3_600);
    expect(stripText(next.record.strip(next.now))).toBe('u60');
  });
});
