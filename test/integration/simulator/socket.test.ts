import { afterEach, describe, expect, it } from 'vitest';
import type { Simulator, SimulatorOptions } from '../../../src/simulator/api.ts';
import { startSimulator } from '../../../src/simulator/simulator.ts';
import { eventually } from '../../support/eventually.ts';
import { TestTime } from '../../support/test-time.ts';
import { ask, attach, ConsoleClient, connect, credentials, refusedUpgrade } from './console-client.ts';

let panel: Simulator;
afterEach(() => panel.stop());

const UUID = '1a7ce997-259b-452e-8b4e-cecc464142ca';

async function start(options: SimulatorOptions = {}): Promise<void> {
  panel = await startSimulator({
    servers: [
      { name: 'survival', uuid: UUID, consoleLinesPerSecond: 0 },
      { name: 'asleep', profile: 'offline' },
    ],
    statsIntervalMs: 20,
    startMs: 20,
    stopMs: 20,
    websocketLimitPerMinute: 0,
    ...options,
  });
}

describe('authentication', () => {
  it('is followed by success, the state, and stats every tick while the server runs', async () => {
    await start();
    const client = await attach(panel, 'survival');
    await eventually(() => expect(client.stats.length).toBeGreaterThan(3));
    expect(client.events.slice(0, 3)).toEqual(['auth success', 'status running', 'stats']);
    expect(client.stats[0]).toMatchObject({ state: 'running', memory_limit_bytes: 4_509_715_660 });
    expect(panel.record.frames).toMatchObject([{ server: UUID, event: 'auth', accepted: true }]);
    expect(JSON.stringify(panel.record.snapshot())).not.toContain(client.token);
  });

  it('is followed by one stats frame and silence if the server is offline', async () => {
    await start();
    panel.pin('asleep', { diskBytes: 7 });
    const client = await attach(panel, 'asleep');
    const other = await attach(panel, 'survival');
    await eventually(() => expect(other.stats.length).toBeGreaterThan(5));
    expect(client.events).toEqual(['auth success', 'status offline', 'stats']);
    expect(client.stats).toMatchObject([{ state: 'offline', disk_bytes: 7, memory_limit_bytes: 0 }]);
    client.send('send stats', null);
    await eventually(() => expect(client.stats).toHaveLength(2));
  });

  it('on an authenticated socket is followed by success only', async () => {
    await start();
    const client = await attach(panel, 'asleep');
    await eventually(() => expect(client.stats).toHaveLength(1));
    client.send('auth', (await credentials(panel, 'asleep')).token);
    client.send('nothing known');
    client.send('send stats');
    await eventually(() => expect(client.stats).toHaveLength(2));
    expect(client.events.slice(3)).toEqual(['auth success', 'stats']);
  });

  it('is required before anything else', async () => {
    await start();
    const client = await connect(panel, 'survival');
    client.send('send stats');
    await eventually(() => expect(client.events).toEqual(['jwt error jwt: no jwt present']));
  });

  it('is accepted with the token of another server, which then shows nothing', async () => {
    await start();
    const client = await connect(panel, 'survival');
    client.send('auth', (await credentials(panel, 'asleep')).token);
    await eventually(() =>
      expect(client.events.slice(0, 2)).toEqual(['auth success', 'jwt error jwt: server uuid mismatch']),
    );
  });
});

describe('a completed backup', () => {
  it.each([
    [false, { checksum: '', file_size: 0 }],
    [true, { checksum: expect.stringMatching(/^[0-9a-f]{40}$/) as string, file_size: 7 }],
  ])('is in the list when the event is sent; successful: %s', async (is_successful, outcome) => {
    await start();
    const client = await attach(panel, 'asleep');
    await eventually(() => expect(client.stats).toHaveLength(1));
    panel.completeBackup('asleep', { is_successful, bytes: is_successful ? 7 : 0 });
    const isEvent = (text: string) => text.startsWith('{"event":"backup completed"');
    await eventually(() => expect(client.frames.filter(isEvent)).toHaveLength(1));
    const { args } = JSON.parse(client.frames.find(isEvent) ?? '') as { args: string[] };
    expect(JSON.parse(args[0] ?? '')).toEqual({
      checksum_type: 'sha1',
      is_successful,
      uuid: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      ...outcome,
    });
    const { text } = await ask(panel, `/servers/${panel.server('asleep').uuid}/backups`);
    const completed_at = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/) as string;
    expect(JSON.parse(text)).toMatchObject({ data: [{ attributes: { is_successful, completed_at } }] });
  });

  it('happens by itself if the server makes backups, and every third one fails', async () => {
    await start({ servers: [{ name: 'survival', uuid: UUID, backupEveryMs: 20 }] });
    const client = await attach(panel, 'survival');
    const outcomes = () =>
      client.frames
        .filter((text) => text.startsWith('{"event":"backup completed"'))
        .map((text) => text.includes('\\"is_successful\\":true'));
    await eventually(() => expect(outcomes()).toContain(false));
    await eventually(() => expect(outcomes()).toContain(true));
  });

  it('is hidden from a token without backup.read', async () => {
    await start({ tokenPermissions: ['websocket.connect'] });
    const client = await attach(panel, 'survival');
    await eventually(() => expect(client.stats.length).toBeGreaterThan(0));
    const { length } = client.stats;
    panel.completeBackup('survival', { is_successful: true, bytes: 7 });
    await eventually(() => expect(client.stats.length).toBeGreaterThan(length + 2));
    expect(client.frames.join('')).not.toContain('backup completed');
  });
});

describe('the upgrade', () => {
  it.each([
    ['another origin', (url: string) => `${url}/`, 403],
    ['the right origin and an unknown path', (url: string) => url, 404],
  ])('is refused for %s', async (_name, origin, status) => {
    await start();
    const { socket } = await credentials(panel, 'survival');
    const address = status === 404 ? socket.replace(UUID, UUID.replace('1', '2')) : socket;
    expect(await refusedUpgrade(address, origin(panel.url))).toBe(status);
    expect(panel.record.counters.wrongOrigin).toBe(status === 403 ? 1 : 0);
  });

  it('is refused with 400 if the server has its maximum of sockets', async () => {
    await start({ maxSocketsPerServer: 2 });
    await connect(panel, 'survival');
    const second = await connect(panel, 'survival');
    const { socket } = await credentials(panel, 'survival');
    expect(await refusedUpgrade(socket, panel.url)).toBe(400);
    second.socket.close(1000);
    await eventually(() =>
      expect(panel.record.sockets(UUID)).toMatchObject({ open: 1, maxOpen: 2, lastCloseCode: 1000 }),
    );
    await connect(panel, 'survival');
  });

  it('is subject to active faults', async () => {
    await start();
    const { socket } = await credentials(panel, 'survival');
    panel.failSockets({ kind: 'refuse-upgrade', status: 502, server: 'survival', times: 1 });
    expect(await refusedUpgrade(socket, panel.url)).toBe(502);
    panel.failSockets({ kind: 'drop-upgrade', times: 1 });
    const dropped = new ConsoleClient(socket, panel.url);
    await eventually(() => expect(dropped.closed?.code).toBe(1006));
    panel.failSockets({ kind: 'close-on-open', code: 4409, reason: 'server is suspended', times: 1 });
    const closed = new ConsoleClient(socket, panel.url);
    await eventually(() => expect(closed.closed).toEqual({ code: 4409, reason: 'server is suspended' }));
    panel.failSockets({ kind: 'hang-upgrade', times: 1 });
    const hung = new ConsoleClient(socket, panel.url);
    const next = await attach(panel, 'survival');
    await eventually(() => expect(next.stats.length).toBeGreaterThan(0));
    expect(hung.socket.readyState).toBe(hung.socket.CONNECTING);
  });
});

describe('tokens', () => {
  it('are announced before they expire and rejected with jwt errors afterwards, on a socket that stays open', async () => {
    // Time passes slowly until the socket is open, however long that takes, and then quickly.
    const time = new TestTime(1);
    await start({ tokenLifetimeSeconds: 60, statsIntervalMs: 200, clock: time.clock() });
    const client = await attach(panel, 'survival');
    await eventually(() => expect(client.events).toContain('auth success'));
    time.speed = 200;
    await eventually(() => expect(client.events.at(-1)).toBe('jwt error jwt: exp claim is invalid'));
    time.speed = 1;
    expect(client.events).toContain('token expiring');
    expect(client.events).not.toContain('token expired');
    client.send('send stats');
    panel.set({ tokenLifetimeSeconds: 600 });
    client.send('auth', (await credentials(panel, 'survival')).token);
    await eventually(() => expect(client.events.at(-1)).toBe('stats'));
    expect(client.closed).toBeUndefined();
  });

  it('can be expired at once', async () => {
    await start();
    const client = await attach(panel, 'asleep');
    await eventually(() => expect(client.stats).toHaveLength(1));
    expect(panel.sockets({ kind: 'expire', server: 'asleep' })).toBe(1);
    client.send('send stats');
    await eventually(() => expect(client.events.slice(3)).toEqual(['jwt error jwt: exp claim is invalid']));
  });

  it('are rejected after a restart of the daemon, while new ones are accepted', async () => {
    await start();
    const client = await attach(panel, 'survival');
    await eventually(() => expect(client.stats.length).toBeGreaterThan(0));
    const { url } = panel;
    await panel.stopListening();
    await eventually(() => expect(client.closed?.code).toBe(1006));
    await expect(fetch(url)).rejects.toThrow('fetch failed');
    await panel.startListening();
    expect(panel.url).toBe(url);
    const again = await connect(panel, 'survival');
    again.send('auth', client.token);
    await eventually(() => expect(again.events[0]).toMatch(/^jwt error .*denylist/));
    again.send('auth', again.token);
    await eventually(() => expect(again.events[1]).toBe('auth success'));
  });

  it.each([
    ['ignored', { kind: 'ignore-auth' } as const, []],
    [
      'refused',
      { kind: 'jwt-error-on-auth', text: 'Error Event [1]: why not' } as const,
      ['jwt error Error Event [1]: why not'],
    ],
  ])('can be %s once', async (_name, fault, events) => {
    await start();
    panel.failSockets({ ...fault, server: 'asleep', times: 1 });
    const client = await attach(panel, 'asleep');
    client.send('auth', client.token);
    await eventually(() => expect(client.stats).toHaveLength(1));
    expect(client.events).toEqual([...events, 'auth success', 'status offline', 'stats']);
  });
});

describe('the power state', () => {
  it('goes through the states on `set state`, with zeros at the end', async () => {
    await start();
    const client = await attach(panel, 'survival');
    await eventually(() => expect(client.stats.length).toBeGreaterThan(0));
    client.send('set state', 'stop');
    await eventually(() => expect(client.stats.at(-1)?.['state']).toBe('offline'));
    expect(client.stats.at(-1)).toMatchObject({
      memory_bytes: 0,
      cpu_absolute: 0,
      network: { rx_bytes: 0, tx_bytes: 0 },
      uptime: 0,
      memory_limit_bytes: 4_509_715_660,
    });
    client.send('set state', 'start');
    await eventually(() => expect(panel.server('survival').state).toBe('running'));
    client.send('set state', 'kill');
    const states = () => client.events.filter((event) => event.startsWith('status'));
    await eventually(() => expect(states()).toHaveLength(7));
    expect(states().slice(1)).toEqual([
      'status stopping',
      'status offline',
      'status starting',
      'status running',
      'status stopping',
      'status offline',
    ]);
    expect(panel.record.frames.map(({ event, args }) => [event, args?.[0]])).toContainEqual([
      'set state',
      'kill',
    ]);
  });

  it('skips `stopping` in a crash, and recovers if the profile requires it', async () => {
    await start({
      servers: [{ name: 'shaky', profile: 'crashing', consoleLinesPerSecond: 0, crashEveryMs: 60 }],
      reviveMs: 20,
    });
    const client = await attach(panel, 'shaky');
    const states = () => client.events.filter((event) => event.startsWith('status'));
    await eventually(() => expect(states().length).toBeGreaterThan(8));
    expect(states()).not.toContain('status stopping');
    expect(states().join()).toContain('status running,status offline,status starting,status running');
  });
});

describe('the console', () => {
  it('echoes commands, keeps 150 lines for `send logs`, and ignores commands while the server is off', async () => {
    await start();
    const client = await attach(panel, 'survival');
    client.send('send command', 'say hi');
    await eventually(() => expect(client.events).toContain('console output > say hi'));
    client.send('send logs', null);
    await eventually(() =>
      expect(client.events.filter((event) => event === 'console output > say hi')).toHaveLength(2),
    );
    const asleep = await attach(panel, 'asleep');
    for (const event of ['send logs', 'send command', 'send stats']) asleep.send(event, null);
    await eventually(() => expect(asleep.stats).toHaveLength(2));
    expect(asleep.events.join()).not.toContain('console');
  });

  it('prints a flood of lines if the server is chatty', async () => {
    await start({ servers: [{ name: 'loud', profile: 'chatty', consoleLinesPerSecond: 5_000 }] });
    const client = await attach(panel, 'loud');
    await eventually(() => expect(client.frames.length).toBeGreaterThan(500));
  });
});

describe("a client's frames", () => {
  it("are dropped beyond the limits, which is reported once; a throttled auth isn't reported", async () => {
    await start();
    const client = await connect(panel, 'asleep');
    for (let index = 0; index < 4; index += 1) client.send('send logs');
    client.send('auth', client.token);
    client.send('auth', client.token);
    await eventually(() => expect(client.frames).toHaveLength(5));
    expect(client.events.filter((event) => event.startsWith('throttled'))).toEqual(['throttled auth']);
    expect(client.events).not.toContain('auth success');
    expect(panel.record.frames.filter(({ accepted }) => !accepted)).toHaveLength(2);
    expect(panel.record.counters.wouldHaveCrashed).toBe(0);
    for (let index = 0; index < 6; index += 1) client.send('send logs');
    await eventually(() => expect(panel.record.counters.wouldHaveCrashed).toBe(1));
  });

  it('are dropped unread if they exceed 4,096 bytes', async () => {
    await start();
    const client = await attach(panel, 'asleep');
    client.send('send command', 'x'.repeat(5_000));
    client.send('send stats');
    await eventually(() => expect(client.stats).toHaveLength(2));
    expect(panel.record.counters.oversizeFrames).toBe(1);
    expect(panel.record.frames.map(({ event }) => event)).toEqual(['auth', '(unreadable)', 'send stats']);
  });

  it('are counted, and receive pongs if they are pings', async () => {
    await start();
    const client = await connect(panel, 'survival');
    client.socket.ping();
    await eventually(() => expect(client.pongs).toBe(1));
    expect(panel.record.sockets(UUID).pings).toBe(1);
  });
});

describe('a fault of open sockets', () => {
  it('sends anything: events, raw text, binary, garbage and too much', async () => {
    await start();
    const client = await connect(panel, 'survival');
    panel.sockets({ kind: 'send', event: 'daemon error', args: ['oh'] });
    panel.sockets({ kind: 'send', event: 'deleted' });
    panel.sockets({ kind: 'raw', text: 'hello' });
    panel.sockets({ kind: 'binary', base64: 'AAEC' });
    panel.sockets({ kind: 'garbage' });
    panel.sockets({ kind: 'oversize' });
    await eventually(() => expect(client.frames).toHaveLength(6));
    expect(client.frames.slice(0, 4)).toEqual([
      '{"event":"daemon error","args":["oh"]}',
      '{"event":"deleted"}',
      'hello',
      'binary 3',
    ]);
    expect(() => JSON.parse(client.frames[4] ?? '{}') as unknown).toThrow('JSON');
    expect(client.frames[5]?.length).toBeGreaterThan(1_048_576);
  });

  it('closes with a code, or drops the connection without a frame', async () => {
    await start();
    const closed = await connect(panel, 'survival');
    panel.sockets({ kind: 'close', server: 'survival', code: 4400, reason: 'terminal' });
    await eventually(() => expect(closed.closed).toEqual({ code: 4400, reason: 'terminal' }));
    const dropped = await connect(panel, 'survival');
    panel.sockets({ kind: 'drop' });
    await eventually(() => expect(dropped.closed?.code).toBe(1006));
    expect(panel.record.sockets(UUID)).toMatchObject({ open: 0, opened: 2, lastCloseCode: undefined });
  });

  it('leaves a half-open socket that never responds', async () => {
    await start();
    const client = await attach(panel, 'survival');
    const other = await attach(panel, 'survival');
    await eventually(() => expect(client.stats.length).toBeGreaterThan(0));
    panel.failSockets({ kind: 'half-open-on-open', times: 1 });
    const dead = await attach(panel, 'asleep');
    dead.socket.ping();
    panel.sockets({ kind: 'half-open', server: 'survival' });
    client.socket.ping();
    other.socket.terminate();
    const next = await attach(panel, 'survival');
    const before = client.frames.length;
    await eventually(() => expect(next.stats.length).toBeGreaterThan(5));
    expect([client.pongs, client.closed, dead.frames.length, dead.pongs]).toEqual([0, undefined, 0, 0]);
    expect(client.frames.length - before).toBeLessThanOrEqual(1);
  });

  it('silences stats, requested or not, until faults are cleared', async () => {
    await start();
    panel.failSockets({ kind: 'silence', server: 'survival' });
    const client = await attach(panel, 'survival');
    client.send('send stats');
    client.send('send command', 'still here');
    await eventually(() => expect(client.events).toContain('console output > still here'));
    expect(client.stats).toEqual([]);
    panel.clearFaults();
    await eventually(() => expect(client.stats.length).toBeGreaterThan(0));
  });
});

describe('the location of a server', () => {
  it('changes when it moves: the old address refuses, and the credentials contain the new one', async () => {
    await start();
    const client = await attach(panel, 'survival');
    const before = await credentials(panel, 'survival');
    panel.move('survival', 'keep');
    expect(await refusedUpgrade(before.socket, panel.url)).toBe(404);
    const after = await credentials(panel, 'survival');
    expect(new URL(after.socket).host).toBe(new URL(panel.secondNodeUrl).host);
    expect(client.closed).toBeUndefined();
    const moved = await attach(panel, 'survival');
    await eventually(() => expect(moved.stats.length).toBeGreaterThan(0));
    panel.move('survival');
    await eventually(() => expect([client.closed?.code, moved.closed?.code]).toEqual([1006, 1006]));
  });

  it('can be advertised incorrectly', async () => {
    await start();
    panel.advertise('survival', 'ws://169.254.169.254/ws');
    expect((await credentials(panel, 'survival')).socket).toBe('ws://169.254.169.254/ws');
  });

  it('is gone once it is deleted', async () => {
    await start();
    const client = await attach(panel, 'asleep');
    await eventually(() => expect(client.stats).toHaveLength(1));
    panel.deleteServer('asleep');
    await eventually(() => expect(client.closed).toEqual({ code: 1001, reason: 'server deleted' }));
    expect(client.events.at(-1)).toBe('deleted null');
    expect(() => panel.server('asleep')).toThrow('no server "asleep"');
  });

  it('is unavailable while it is suspended: the socket is closed, with 4409 if credentials are issued anyway', async () => {
    await start();
    const client = await attach(panel, 'survival');
    await eventually(() => expect(client.stats.length).toBeGreaterThan(0));
    panel.suspend('survival');
    await eventually(() => expect(client.closed?.code).toBe(1006));
    await expect(credentials(panel, 'survival')).rejects.toThrow('409');
    panel.set({ suspendedCredentials: 'issue' });
    const opened = await connect(panel, 'survival');
    await eventually(() => expect(opened.closed?.code).toBe(4409));
    panel.power('survival', 'start');
    expect(panel.server('survival').state).toBe('offline');
    panel.unsuspend('survival');
    panel.power('survival', 'start');
    expect(panel.server('survival').state).toBe('starting');
  });
});

it('stats have the configured form', async () => {
  await start({ statsDiskIo: false });
  const client = await attach(panel, 'survival');
  await eventually(() => expect(client.stats.length).toBeGreaterThan(0));
  expect(Object.keys(client.stats[0] ?? {})).not.toContain('disk_io');
});
