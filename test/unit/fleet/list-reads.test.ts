import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ListReads } from '../../../src/fleet/list-reads.ts';
import { ServerRecord } from '../../../src/fleet/server-record.ts';
import { PanelError } from '../../../src/panel/panel-error.ts';
import type { BackupsPage } from '../../../src/panel/responses.ts';
import { collectingLogger } from '../../support/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { target } from '../../support/targets.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const REFUSED = new PanelError({ cause: 'forbidden', detail: 'returned 403' });
const SUSPENDED = new PanelError({ cause: 'suspended', detail: 'returned 409' });
const NONE: BackupsPage = { backups: [], totalPages: 1 };

let clock: ManualClock;
let records: ServerRecord[];
let asked: { readonly server: string; readonly at: number }[];
let answer: (server: string) => Promise<BackupsPage>;
/**
 * A random number that determines when a server's second read is due: half to one and a half
 * intervals after the first.
 */
let random: () => number;
let watch: ListReads | undefined;

beforeEach(() => {
  clock = new ManualClock();
  asked = [];
  answer = () => Promise.resolve(NONE);
  random = () => 0.5;
  records = [];
});

afterEach(() => watch?.stop());

/** Starts to read the backups of the current servers. */
function read(): ListReads {
  const backups = ({ id }: { readonly id: string }) => {
    asked.push({ server: id, at: clock.now() });
    return answer(id);
  };
  watch = new ListReads({
    what: 'backups',
    intervalMs: HOUR,
    gateway: { backups, schedules: () => Promise.reject(new Error('expected no schedules')) },
    panel: 'main',
    clock,
    log: collectingLogger(),
    random: () => random(),
    records: () => records,
  });
  return watch;
}

/** Monitors this many servers, and reads the list of each once. */
async function start(servers: number): Promise<void> {
  records = Array.from({ length: servers }, (_, index) => {
    return new ServerRecord(target({ id: `id-${index}` }), { socket: MINUTE, poll: MINUTE });
  });
  read();
  await clock.advance(5_000);
  expect(asked).toHaveLength(servers);
  asked.length = 0;
}

/** Reports the end of a backup by the server's node. */
function completed(index: number): void {
  const record = records[index];
  if (record !== undefined) watch?.changed(record);
}

/** Reports an event of each server every `everyMs`. */
async function flood(indexes: readonly number[], forMs: number, everyMs: number): Promise<void> {
  for (let passed = 0; passed < forMs; passed += everyMs) {
    for (const index of indexes) completed(index);
    await clock.advance(everyMs);
  }
}

it('reads the lists of all servers one after another, without waiting in between, and that of a new one within seconds', async () => {
  await start(31);
  records = [...records, new ServerRecord(target({ id: 'new' }), { socket: MINUTE, poll: MINUTE })];
  await clock.advance(10_000);
  expect(asked.map(({ server }) => server)).toEqual(['new']);
});

it('leaves the calls of the first five seconds to the data of servers', async () => {
  const added = clock.now();
  await start(1);
  records = [...records, new ServerRecord(target({ id: 'new' }), { socket: MINUTE, poll: MINUTE })];
  await clock.advance(0);
  read();
  await clock.advance(4_999);
  expect(asked).toEqual([]);
  await clock.advance(1);
  expect(asked.map(({ at }) => at - added)).toEqual([10_000, 10_000]);
});

it('keeps what was read for two and a half intervals', async () => {
  await start(1);
  expect(records[0]?.backups?.staleAt).toBe(clock.now() + 2.5 * HOUR);
});

it('reads the list immediately after a backup ends', async () => {
  await start(2);
  const at = clock.now();
  completed(1);
  await clock.advance(0);
  expect(asked).toEqual([{ server: 'id-1', at }]);
});

it('reads the list again if a backup ends during a read', async () => {
  await start(1);
  completed(0);
  let finish: (page: BackupsPage) => void = () => undefined;
  answer = () => new Promise((resolve) => (finish = resolve));
  await clock.advance(0);
  completed(0);
  answer = () => Promise.resolve({ backups: [{ isSuccessful: false, completedAtMs: 7 }], totalPages: 1 });
  finish(NONE);
  await clock.advance(MINUTE);
  expect(asked).toHaveLength(2);
  expect(records[0]?.backups?.backup_last_failure_timestamp_seconds).toBe(0.007);
});

describe('a flood of events', () => {
  it('causes one read per list and minute', async () => {
    await start(3);
    await flood([0], 10 * MINUTE, 1_000);
    const times = asked.map(({ at }) => at);
    expect(times).toHaveLength(11);
    for (const [index, at] of times.entries()) expect(at).toBe((times[0] ?? 0) + index * MINUTE);
  });

  it('delays no scheduled read, so that no value becomes stale', async () => {
    let servers = 0;
    random = () => (servers++ % 200) / 200;
    await start(200);
    const quiet = records.slice(150).map(({ target: { id } }) => id);
    answer = async () => {
      await new Promise<void>((resolve) => clock.schedule(300, resolve));
      return NONE;
    };
    await flood([...records.keys()].slice(0, 150), 2 * HOUR, 5_000);
    for (const id of quiet) {
      const times = asked.filter(({ server }) => server === id).map(({ at }) => at);
      expect(times.length).toBeGreaterThanOrEqual(1);
      for (const [index, at] of times.slice(1).entries()) {
        expect(at - (times[index] ?? 0)).toBeLessThan(1.1 * HOUR);
      }
    }
  });

  it('never causes two reads at once', async () => {
    await start(20);
    let inFlight = 0;
    let most = 0;
    answer = async () => {
      inFlight += 1;
      most = Math.max(most, inFlight);
      await new Promise<void>((resolve) => clock.schedule(7_000, resolve));
      inFlight -= 1;
      return NONE;
    };
    await flood([...records.keys()], 3 * HOUR, 30_000);
    expect(most).toBe(1);
  });
});

it('ignores events of servers whose backups are not read', async () => {
  await start(3);
  const [, allowed, blocked] = records;
  if (allowed === undefined || blocked === undefined) throw new Error('expected three servers');
  allowed.target = { ...allowed.target, withoutBackups: true };
  blocked.target = { ...blocked.target, blocked: 'suspended' };
  await flood([1, 2], 5 * MINUTE, 1_000);
  expect(asked).toEqual([]);
  watch?.stop();
  await flood([0, 1, 2], 5 * MINUTE, 1_000);
  expect(asked).toEqual([]);
});

it.each<[string, (record: ServerRecord) => void]>([
  ['removed', () => (records = records.slice(1))],
  ['suspended', (record) => (record.target = { ...record.target, blocked: 'suspended' })],
])('does not read the list of a server that is %s while it waits', async (_what, change) => {
  await start(2);
  completed(0);
  await clock.advance(0);
  completed(0);
  const [record] = records;
  if (record === undefined) throw new Error('expected a server');
  change(record);
  await clock.advance(10 * MINUTE);
  expect(asked).toHaveLength(1);
});

it('is not delayed by events of servers whose backups are not read', async () => {
  await start(2);
  const [record] = records;
  if (record === undefined) throw new Error('expected two servers');
  record.target = { ...record.target, withoutBackups: true };
  completed(0);
  await clock.advance(0);
  completed(1);
  await clock.advance(0);
  expect(asked).toHaveLength(1);
});

it('reads each server once per interval, the second time at a point of its own', async () => {
  const parts = [0, 0.25, 0.9];
  random = () => parts.shift() ?? 0.5;
  await start(3);
  await clock.advance(6 * HOUR);
  for (const [index, part] of [0, 0.25, 0.9].entries()) {
    const times = asked.filter(({ server }) => server === `id-${index}`).map(({ at }) => at);
    const firstAt = 1_000_000;
    for (const [n, at] of times.entries())
      expect(Math.abs(at - firstAt - (n + 0.5 + part) * HOUR)).toBeLessThan(30_000);
    expect(times.length).toBeGreaterThanOrEqual(5);
  }
});

it('reads a list again after a day if that was rejected, and after the interval if the server is the reason', async () => {
  answer = (server) => Promise.reject(server === 'id-0' ? REFUSED : SUSPENDED);
  await start(2);
  await clock.advance(24.5 * HOUR);
  const times = (id: string) => asked.filter(({ server }) => server === id).length;
  expect([times('id-0'), times('id-1')]).toEqual([1, 24]);
});

it('reads a list again after 15 s, 30 s, and then every minute while that fails, and after the interval once it succeeds', async () => {
  answer = () => Promise.reject(new Error('down'));
  await start(1);
  const failedAt = clock.now() - 5_000;
  await clock.advance(4 * MINUTE);
  answer = () => Promise.resolve(NONE);
  await clock.advance(HOUR);
  const times = asked.map(({ at }) => Math.floor((at - failedAt) / 15_000) * 15);
  expect(times).toEqual([15, 45, 105, 165, 225, 285]);
});

it('does not read a list for an event if a scheduled read came first', async () => {
  await start(1);
  const plannedAt = clock.now() - 5_000 + HOUR;
  await clock.advance(plannedAt - 30_000 - clock.now());
  answer = () => Promise.reject(new Error('down'));
  completed(0);
  await clock.advance(0);
  // The read for the first event is repeated before the next event counts.
  answer = () => Promise.resolve(NONE);
  completed(0);
  await clock.advance(10 * MINUTE);
  expect(asked).toHaveLength(2);
});

it('a read for an event postpones the scheduled read', async () => {
  await start(1);
  const readAt = clock.now() - 5_000;
  await clock.advance(readAt + 50 * MINUTE - clock.now());
  completed(0);
  await clock.advance(0);
  expect(asked).toHaveLength(1);
  await clock.advance(readAt + 110 * MINUTE - clock.now() - 1);
  expect(asked).toHaveLength(1);
  await clock.advance(10_000);
  expect(asked).toHaveLength(2);
});

it('lists of 1,000 servers that are read once an hour take 17 calls a minute', () => {
  const targets = Array.from({ length: 1_000 }, (_, index) => target({ id: `id-${index}` }));
  expect(Math.round(read().wantedPerMinute(targets))).toBe(17);
});

it('looks at no other server for a read', async () => {
  let looks = 0;
  class Counted extends ServerRecord {
    override get target() {
      looks += 1;
      return super.target;
    }
    override set target(to) {
      super.target = to;
    }
  }
  records = Array.from({ length: 1_000 }, (_, index) => {
    return new Counted(target({ id: `id-${index}` }), { socket: MINUTE, poll: MINUTE });
  });
  const looksAt: number[] = [];
  answer = () => {
    looksAt.push(looks);
    return looksAt.length > 10 ? new Promise(() => undefined) : Promise.resolve(NONE);
  };
  read();
  await clock.advance(5_000);
  expect(looksAt).toHaveLength(11);
  expect((looksAt[10] ?? 0) - (looksAt[0] ?? 0)).toBeLessThan(100);
});
