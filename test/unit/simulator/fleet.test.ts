import { stripVTControlCharacters } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ConsoleConnection } from '../../../src/simulator/connection.ts';
import { Faults } from '../../../src/simulator/faults.ts';
import { SimulatedFleet } from '../../../src/simulator/fleet.ts';
import type { SimulatedServer } from '../../../src/simulator/simulated-server.ts';
import type { ServerSpec } from '../../../src/simulator/simulator-schema.ts';
import { initialSettings, type SettingsChange } from '../../../src/simulator/simulator-settings.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const MIB = 1_048_576;
const CRASH_LINES = ['Detected server process in a crashed state!', 'Exit code: 137', 'Out of memory: true'];

let clock: ManualClock;
let faults: Faults;
let fleet: SimulatedFleet;
/** The events that the server's socket received, in a short form, without stats. */
let sent: string[];

beforeEach(() => {
  clock = new ManualClock();
  faults = new Faults();
});

/** Starts a fleet with one server, whose socket is open. */
function run(spec: Partial<ServerSpec> = {}, changes: SettingsChange = {}): SimulatedServer {
  const settings = initialSettings(changes);
  fleet = new SimulatedFleet({ clock, settings: () => settings, faults, seed: 1, statsIntervalMs: 1_000 });
  const server = fleet.add({ name: 'survival', consoleLinesPerSecond: 0, ...spec });
  sent = [];
  const send = (frame: Buffer, permission?: string) => {
    const { event, args = [] } = JSON.parse(frame.toString()) as { event: string; args?: readonly string[] };
    const plain = stripVTControlCharacters(args.join(' '));
    const text = plain.replaceAll(/\[\w+ Daemon\]: |-{10} ?| ?-{10}/g, '');
    sent.push(
      [event, event === 'stats' ? (JSON.parse(text) as { state: string }).state : text, permission ?? '']
        .join(' ')
        .trim(),
    );
  };
  server.connections.add({ send } as unknown as ConsoleConnection);
  fleet.start();
  return server;
}

const events = () => sent.splice(0).filter((one) => !one.startsWith('stats'));
const console = (...lines: readonly string[]) => lines.map((line) => `console output ${line}`);

describe('the servers', () => {
  it('are found by UUID, short id and name', () => {
    const server = run();
    for (const ref of [server.uuid, server.identifier, server.name]) expect(fleet.find(ref)).toBe(server);
    expect(fleet.findById(server.name)).toBeUndefined();
    expect(fleet.find('other')).toBeUndefined();
  });

  it('have names and UUIDs of their own, but a short id may be that of two', () => {
    const server = run();
    expect(() => fleet.add({ name: 'survival' })).toThrow('already exists');
    expect(() => fleet.add({ name: 'other', uuid: server.uuid })).toThrow('already exists');
    const second = fleet.add({ name: 'second', uuid: `${server.identifier}-0000-4000-8000-000000000000` });
    expect(fleet.findById(server.identifier)).toBe(server);
    fleet.remove(server);
    expect(fleet.findById(server.identifier)).toBe(second);
    expect([fleet.all, fleet.find('survival')]).toEqual([[second], undefined]);
  });

  it('do nothing more once the fleet has stopped', async () => {
    const server = run();
    fleet.apply(server, 'stop');
    fleet.stop();
    sent.length = 0;
    await clock.advance(60_000);
    expect([sent, clock.pending]).toEqual([[], 0]);
  });
});

describe('power', () => {
  it('passes through its states, each of which is told, and stats tell the end', async () => {
    const server = run({}, { startMs: 2_000, stopMs: 1_000 });
    fleet.apply(server, 'restart');
    await clock.advance(1_000);
    expect(events()).toEqual(['status stopping', 'status offline', 'status starting']);
    await clock.advance(2_000);
    expect(events()).toEqual(['status running']);
    fleet.apply(server, 'kill');
    expect(sent.slice(-3)).toEqual(['status stopping', 'status offline', 'stats offline']);
  });

  it('of a suspended server can not be turned on', () => {
    const server = run({ profile: 'suspended' });
    fleet.apply(server, 'start');
    expect(sent).toEqual([]);
  });

  it('may be told late', () => {
    const server = run();
    faults.addSocket({ kind: 'late-stats' });
    fleet.apply(server, 'kill');
    expect(sent).toEqual([
      'status stopping',
      'stats running',
      'status offline',
      'stats stopping',
      'stats offline',
    ]);
  });
});

describe('a crash', () => {
  const exit = { code: 137, outOfMemory: true };

  it('is explained by the daemon, which starts the server again, but only once a minute', async () => {
    const server = run({}, { startMs: 2_000, reviveMs: 5_000 });
    fleet.crash(server, exit);
    expect(events()).toEqual(['status offline', ...console(...CRASH_LINES)]);
    await clock.advance(7_000);
    expect(events()).toEqual(['status starting', 'status running']);
    fleet.crash(server, exit);
    expect(events()).toEqual([
      'status offline',
      ...console(...CRASH_LINES, 'Aborting automatic restart, last crash occurred less than 60 seconds ago.'),
    ]);
    await clock.advance(60_000);
    expect(events()).toEqual([]);
  });

  it.each(['kill', 'stop'] as const)('is none after %s', (event) => {
    const server = run();
    fleet.apply(server, event);
    events();
    fleet.crash(server, exit);
    expect(events()).toEqual([]);
  });

  it('of a start that fails is one with the exit code 1', async () => {
    const server = run({}, { startMs: 2_000 });
    fleet.apply(server, 'kill');
    server.startsToFail = 1;
    events();
    fleet.apply(server, 'start');
    await clock.advance(2_000);
    expect(events().slice(0, 4)).toEqual([
      'status starting',
      'status offline',
      ...console(CRASH_LINES[0] ?? '', 'Exit code: 1'),
    ]);
    expect(server.startsToFail).toBe(0);
  });

  it('comes by itself after a while, for the reason that the server has', async () => {
    run({ crashEveryMs: 60_000, death: exit });
    await clock.advance(61_000);
    expect(events()).toEqual(expect.arrayContaining(['status offline', ...console('Exit code: 137')]));
    run({ crashEveryMs: 60_000, death: 'disk full' }, { stopMs: 1_000 });
    await clock.advance(62_000);
    expect(events()).toEqual(
      expect.arrayContaining([
        ...console('Server is exceeding the assigned disk space limit, stopping process now.'),
        'status stopping',
        'status offline',
      ]),
    );
    run({ crashEveryMs: 60_000 });
    await clock.advance(61_000);
    expect(events()).toContain('status offline');
  });
});

describe('a full disk', () => {
  it('is told, and stops the server, which has room when it starts again', async () => {
    const server = run({ limits: { disk: 100 } }, { stopMs: 1_000 });
    const usual = server.game.usage.diskBytes;
    fleet.fillDisk(server, 500);
    expect(events()).toEqual(
      console('Server is exceeding the assigned disk space limit, stopping process now.'),
    );
    expect(server.game.usage.diskBytes).toBe(100 * MIB);
    await clock.advance(1_500);
    expect(events()).toEqual(['status stopping', 'status offline']);
    fleet.fillDisk(server);
    fleet.apply(server, 'start');
    expect([events(), server.game.usage.diskBytes]).toEqual([['status starting'], usual]);
  });
});

describe('each second', () => {
  const stats = () => sent.filter((one) => one.startsWith('stats')).length;

  it('a server that is on sends stats', async () => {
    const server = run();
    await clock.advance(5_000);
    expect(stats()).toBe(5);
    fleet.apply(server, 'kill');
    sent.length = 0;
    await clock.advance(5_000);
    expect(stats()).toBe(0);
  });

  it.each([
    ['silence', 0, true],
    ['frozen-stats', 0, false],
  ] as const)('a server with the fault %s sends %d', async (kind, count, uses) => {
    const server = run();
    const before = server.game.usage.rxBytes;
    faults.addSocket({ kind });
    await clock.advance(5_000);
    expect([stats(), server.game.usage.rxBytes > before]).toEqual([count, uses]);
  });

  it.each([1, 20])('a server prints as many lines as it should: %d', async (consoleLinesPerSecond) => {
    const server = run({ consoleLinesPerSecond });
    await clock.advance(10_000);
    expect(events().length).toBeGreaterThanOrEqual(10 * consoleLinesPerSecond - 1);
    expect(server.log).toHaveLength(Math.min(150, 10 * consoleLinesPerSecond));
  });

  it('a backup may be due', async () => {
    const server = run({ backupEveryMs: 2_000 });
    await clock.advance(4_000);
    expect(server.backups.length).toBeGreaterThanOrEqual(1);
    const [backup] = events();
    expect(backup).toMatch(/^backup completed .* backup\.read$/);
  });
});
