import { beforeEach, describe, expect, it } from 'vitest';
import { readDaemonWords } from '../../../src/panel/dialects/daemon-words.ts';
import type { ConsoleConnection } from '../../../src/simulator/connection.ts';
import { Faults } from '../../../src/simulator/faults.ts';
import { SimulatedFleet } from '../../../src/simulator/fleet.ts';
import { DEMO_SERVERS } from '../../../src/simulator/profiles.ts';
import type { ServerSpec } from '../../../src/simulator/schema.ts';
import type { SimulatedServer } from '../../../src/simulator/server.ts';
import { initialSettings, type SettingsChange } from '../../../src/simulator/settings.ts';
import { ManualClock } from '../../support/manual-clock.ts';

let clock: ManualClock;
let faults: Faults;
let fleet: SimulatedFleet;
let server: SimulatedServer;
/** What the server's socket receives: states and the kinds of the daemon's messages. */
let received: string[];

function open(settings: SettingsChange = {}, statsIntervalMs = 60_000): void {
  clock = new ManualClock();
  faults = new Faults();
  const current = initialSettings({ startMs: 2_000, stopMs: 1_000, reviveMs: 5_000, ...settings });
  fleet = new SimulatedFleet({ clock, settings: () => current, faults, seed: 1, statsIntervalMs });
}

function add(spec: ServerSpec): SimulatedServer {
  const added = fleet.add(spec);
  received = [];
  const send = (frame: Buffer) => receive(received, frame);
  added.connections.add({ send } as unknown as ConsoleConnection);
  return added;
}

function receive(into: string[], frame: Buffer): void {
  const { event, args } = JSON.parse(frame.toString()) as { event: string; args: string[] };
  if (event === 'status') into.push(args[0] ?? '');
  const words = event === 'console output' ? readDaemonWords(args[0] ?? '') : undefined;
  if (words !== undefined) into.push(words.kind);
}

const REPORT = ['crash detected', 'exit code', 'out of memory'];

beforeEach(() => {
  open();
  server = add({ name: 'survival', uuid: '1a7ce997-259b-452e-8b4e-cecc464142ca', consoleLinesPerSecond: 0 });
});

describe('a server that stops', () => {
  it('on request gets no messages', async () => {
    fleet.apply(server, 'stop');
    await clock.advance(120_000);
    expect(received).toEqual(['stopping', 'offline']);
  });

  it.each([
    ['an in-game stop', { code: 0 }],
    ['a crash', { code: 1 }],
    ['out of memory', { code: 137, outOfMemory: true }],
  ])('because of %s gets messages after it is offline, and is restarted', async (_, exit) => {
    fleet.crash(server, exit);
    expect(received).toEqual(['offline', ...REPORT]);
    await clock.advance(6_999);
    expect(received.slice(4)).toEqual(['starting']);
    await clock.advance(1);
    expect(received.slice(4)).toEqual(['starting', 'running']);
  });

  it('a second time within a minute stays off until it is started', async () => {
    fleet.crash(server, { code: 1 });
    await clock.advance(52_000);
    received.length = 0;
    fleet.crash(server, { code: 1 });
    await clock.advance(5_500);
    expect(received).toEqual(['offline', ...REPORT, 'restart aborted']);
    fleet.apply(server, 'start');
    await clock.advance(2_500);
    // The minute counts from the last restart, not from a crash without one.
    fleet.crash(server, { code: 1 });
    expect(received.slice(5)).toEqual(['starting', 'running', 'offline', ...REPORT]);
  });

  it('without crash detection stays off, and the daemon reports why', async () => {
    open({ crashDetection: false });
    server = add({ name: 'survival' });
    fleet.crash(server, { code: 1 });
    await clock.advance(120_000);
    expect(received).toEqual(['offline', 'restart disabled']);
  });

  it('because of its disk limit is stopped by the daemon, immediately or later', async () => {
    const usual = server.game.usage.diskBytes;
    fleet.fillDisk(server);
    expect(received).toEqual(['disk full', 'stopping']);
    await clock.advance(1_000);
    expect(server.game.usage.diskBytes).toBe(server.limits.disk * 2 ** 20);
    fleet.apply(server, 'start');
    expect(server.game.usage.diskBytes).toBe(usual);
    await clock.advance(2_000);
    received.length = 0;
    fleet.fillDisk(server, 90_000);
    await clock.advance(89_999);
    expect(received).toEqual(['disk full']);
    await clock.advance(120_000);
    expect(received).toEqual(['disk full', 'stopping', 'offline']);
  });

  it('before the daemon stops it because of its disk is not stopped again in its next run', async () => {
    fleet.fillDisk(server, 60_000);
    fleet.apply(server, 'kill');
    fleet.apply(server, 'start');
    await clock.advance(120_000);
    expect(received).toEqual(['disk full', 'stopping', 'offline', 'starting', 'running']);
  });

  it('while it is stopping or off is not affected', async () => {
    fleet.apply(server, 'restart');
    fleet.crash(server, { code: 1 });
    fleet.fillDisk(server);
    await clock.advance(10_000);
    expect(received).toEqual(['stopping', 'offline', 'starting', 'running']);
    fleet.apply(server, 'kill');
    fleet.crash(server, { code: 1 });
    fleet.fillDisk(server);
    expect(received.slice(4)).toEqual(['stopping', 'offline']);
  });
});

describe('a failing start', () => {
  it('is a crash: it is tried again, as often as configured or until the node gives up', async () => {
    fleet.apply(server, 'kill');
    received.length = 0;
    server.startsToFail = 1;
    fleet.apply(server, 'start');
    await clock.advance(120_000);
    expect(received).toEqual(['starting', 'offline', ...REPORT, 'starting', 'running']);
    server.startsToFail = 5;
    fleet.apply(server, 'restart');
    received.length = 0;
    await clock.advance(120_000);
    const failed = ['starting', 'offline', ...REPORT];
    expect(received).toEqual(['offline', ...failed, ...failed, 'restart aborted']);
  });

  it('after a crash passes through stopping, and the node gives up', async () => {
    server.startsToFail = 1;
    fleet.crash(server, { code: 1 });
    await clock.advance(120_000);
    expect(received).toEqual(['offline', ...REPORT, 'starting', 'stopping', 'offline', 'restart aborted']);
  });
});

describe("the daemon's messages", () => {
  it('can arrive before the server is offline', () => {
    faults.addSocket({ kind: 'early-words' });
    fleet.crash(server, { code: 1 });
    expect(received).toEqual([...REPORT, 'offline']);
  });

  it('can be lost, all or some, and states can be lost too', async () => {
    faults.addSocket({ kind: 'lost-words', server: server.uuid, words: ['crash detected', 'exit code'] });
    fleet.crash(server, { code: 1 });
    expect(received).toEqual(['offline', 'out of memory']);
    await clock.advance(60_000);
    faults.addSocket({ kind: 'lost-words', server: server.uuid });
    faults.addSocket({ kind: 'lost-status', states: ['stopping'] });
    received.length = 0;
    fleet.crash(server, { code: 1 });
    await clock.advance(7_000);
    fleet.apply(server, 'kill');
    expect(received).toEqual(['offline', 'starting', 'running', 'offline']);
  });

  it("are not part of the game's log", () => {
    fleet.crash(server, { code: 1 });
    expect(server.log.filter((line) => readDaemonWords(line) !== undefined)).toEqual([]);
  });
});

it('the demo shows every kind of stop within twelve minutes, and none in its first half minute', async () => {
  open({}, 5_000);
  const receivedOf = new Map<string, string[]>();
  for (const spec of DEMO_SERVERS) {
    const into: string[] = [];
    receivedOf.set(spec.name, into);
    const send = (frame: Buffer) => receive(into, frame);
    fleet.add(spec).connections.add({ send } as unknown as ConsoleConnection);
  }
  fleet.start();
  await clock.advance(30_000);
  expect([...receivedOf.values()].flat()).toEqual([]);
  await clock.advance(690_000);
  fleet.stop();
  const restarted = ['offline', ...REPORT, 'starting', 'running'];
  expect(receivedOf.get('modded-beta')?.slice(0, 12)).toEqual([...restarted, ...restarted]);
  expect(receivedOf.get('rust-weekly')).toEqual(expect.arrayContaining(restarted));
  expect(receivedOf.get('valheim-2')).toEqual(expect.arrayContaining(restarted));
  expect(receivedOf.get('factorio')).toEqual([...restarted, 'offline', ...REPORT, 'restart aborted']);
  expect(receivedOf.get('valheim-1')).toEqual(['disk full', 'stopping', 'offline']);
  const steady = [...receivedOf.values()].filter(({ length }) => length === 0);
  expect(steady).toHaveLength(DEMO_SERVERS.length - 5);
});
