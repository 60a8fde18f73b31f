import { EventEmitter } from 'node:events';
import { beforeEach, describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { ConsoleConnection, type ConsoleHost } from '../../../src/simulator/connection.ts';
import { Faults } from '../../../src/simulator/faults.ts';
import { eventFrame, MAX_CLIENT_FRAME_BYTES } from '../../../src/simulator/frames.ts';
import { Recorder } from '../../../src/simulator/recorder.ts';
import { createServer, type SimulatedServer } from '../../../src/simulator/simulated-server.ts';
import type { SocketAction, SocketFault } from '../../../src/simulator/simulator-schema.ts';
import { initialSettings, type SettingsChange } from '../../../src/simulator/simulator-settings.ts';
import { signToken } from '../../../src/simulator/tokens.ts';
import { eventually } from '../../support/eventually.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const KEY = new TextEncoder().encode('a secret of thirty-two characters');
const UUID = '1a7ce997-259b-452e-8b4e-cecc464142ca';
const CALAGOPUS: SettingsChange = { panel: 'calagopus' };

/** The daemon's end of a WebSocket, and its actions on it. */
class Socket extends EventEmitter {
  readonly sent: string[] = [];
  readonly done: string[] = [];
  bufferedAmount = 0;

  send(frame: Buffer | string, { binary }: { readonly binary: boolean }): void {
    this.sent.push(`${binary ? 'binary ' : ''}${frame.toString()}`);
  }

  ping(): void {
    this.done.push('ping');
  }

  pause(): void {
    this.done.push('pause');
  }

  terminate(): void {
    this.done.push('terminate');
    this.emit('close', 1_006);
  }

  close(code: number, reason: string): void {
    this.done.push(`close ${code} ${reason}`);
    this.emit('close', code);
  }
}

let clock: ManualClock;
let faults: Faults;
let recorder: Recorder;
let server: SimulatedServer;
let socket: Socket;
let connection: ConsoleConnection;
/** The requests to the daemon. */
let asked: string[];
const unauthenticated = [new Set<unknown>(), new Set<unknown>()] as const;

beforeEach(() => {
  clock = new ManualClock();
  faults = new Faults();
  recorder = new Recorder();
  asked = [];
  for (const open of unauthenticated) open.clear();
});

function open(changes: SettingsChange = {}): void {
  const settings = initialSettings(changes);
  server = createServer({ name: 'survival', uuid: UUID }, 1, clock.now(), settings);
  const host: ConsoleHost = {
    clock,
    recorder,
    faults,
    tokenKey: KEY,
    settings,
    unauthenticated,
    startedUnixMs: clock.toUnixMs(clock.now()) - 60_000,
    power: (_, action) => void asked.push(action),
    print: (_, line) => void asked.push(line),
    statsFrame: () => Buffer.from(eventFrame('stats', ['{}'])),
  };
  socket = new Socket();
  connection = new ConsoleConnection(socket as unknown as WebSocket, server, host);
  connection.start();
}

const token = (permissions = ['*'], livesMs = 600_000, uuid = UUID, key = KEY) => {
  const now = clock.toUnixMs(clock.now());
  return signToken(key, { serverUuid: uuid, issuedAtMs: now, expiresAtMs: now + livesMs }, 'id', permissions);
};

/** Sends a frame. Returns the events in the daemon's response, in a short form. */
async function say(event: string, ...args: readonly unknown[]): Promise<readonly string[]> {
  const before = socket.sent.length;
  socket.emit('message', Buffer.from(JSON.stringify({ event, args })), false);
  // A thread of Node.js checks tokens.
  await clock.advance(0);
  return socket.sent.slice(before).map(shortForm);
}

function shortForm(frame: string): string {
  const { event, args = [] } = JSON.parse(frame) as { event: string; args?: readonly string[] };
  return [event, ...args].join(' ').replace(/Error Event \[[0-9a-f-]{36}\]: /, 'Error Event: ');
}

async function authenticate(...given: Parameters<typeof token>): Promise<readonly string[]> {
  const { length: before } = socket.sent;
  const { length: doneBefore } = socket.done;
  await say('auth', await token(...given));
  await eventually(() =>
    expect(socket.sent.length + socket.done.length).toBeGreaterThan(before + doneBefore),
  );
  return socket.sent.slice(before).map(shortForm);
}

describe('a socket', () => {
  it('counts as open, and without a token until that is accepted', async () => {
    open();
    expect([recorder.openSockets, unauthenticated[0].size]).toEqual([1, 1]);
    await authenticate();
    expect([recorder.openSockets, unauthenticated[0].size]).toEqual([1, 0]);
    socket.emit('close', 1_000);
    expect(recorder.sockets(UUID)).toMatchObject({ open: 0, lastCloseCode: 1_000 });
  });

  it('records pings, and ends with errors', () => {
    open();
    socket.emit('ping');
    socket.emit('error', new Error('broken'));
    expect([recorder.sockets(UUID).pings, socket.done]).toEqual([1, ['terminate']]);
  });

  it('sends nothing before its token, and nothing to a slow reader', async () => {
    open();
    connection.send('a');
    await authenticate();
    const before = socket.sent.length;
    socket.bufferedAmount = 1_048_577;
    connection.send('b');
    socket.bufferedAmount = 1_048_576;
    connection.send('c');
    expect([socket.sent[0], socket.sent.slice(before)]).toEqual(['{"event":"auth success"}', ['c']]);
  });
});

describe('a token', () => {
  it('is accepted, with the state, and stats of a server that is off', async () => {
    open();
    expect(await authenticate()).toEqual(['auth success', 'status running']);
    expect(await authenticate()).toEqual(['auth success']);
    open();
    server.game = { ...server.game, state: 'offline' };
    expect(await authenticate()).toEqual(['auth success', 'status offline', 'stats {}']);
    open(CALAGOPUS);
    server.game = { ...server.game, state: 'offline' };
    expect(await authenticate(['a', 'websocket.connect'])).toEqual([
      'auth success a websocket.connect',
      'status offline',
    ]);
  });

  const OTHER_KEY = new TextEncoder().encode('another secret of thirty-two chars');
  it.each<[string, SettingsChange, Parameters<typeof token>, readonly string[], readonly string[]]>([
    ['that has expired', {}, [['*'], 0], ['jwt error Error Event: jwt: exp claim is invalid'], []],
    ['without the permission', {}, [['a']], ['jwt error Error Event: jwt: missing connect permission'], []],
    [
      'of another panel',
      {},
      [['*'], 1, UUID, OTHER_KEY],
      ['daemon error Error Event: an unexpected error was encountered while handling this request'],
      [],
    ],
    [
      'that has expired, of Calagopus',
      CALAGOPUS,
      [['*'], 0],
      ['jwt error invalid token: token is expired'],
      [],
    ],
    ['of another panel, of Calagopus', CALAGOPUS, [['*'], 1, UUID, OTHER_KEY], [], ['terminate']],
    ['without the permission, of Calagopus', CALAGOPUS, [['a']], [], ['terminate']],
    ['of another server, of Calagopus', CALAGOPUS, [['*'], 600_000, 'other'], ['token expired'], []],
  ])('%s is rejected', async (_what, settings, given, said, done) => {
    open(settings);
    expect([await authenticate(...given), socket.done]).toEqual([said, done]);
    expect(unauthenticated[0].size).toBe(done.length === 0 ? 1 : 0);
  });

  it('of another server is rejected when it is used', async () => {
    open();
    expect(await authenticate(['*'], 600_000, 'other')).toEqual([
      'auth success',
      'jwt error jwt: server uuid mismatch',
    ]);
    expect(await say('send stats')).toEqual(['jwt error jwt: server uuid mismatch']);
  });

  it('is told to expire soon, and does', async () => {
    open();
    await authenticate();
    const told = () => {
      const before = socket.sent.length;
      connection.checkToken();
      return socket.sent.slice(before).map(shortForm);
    };
    expect(told()).toEqual([]);
    await clock.advance(540_000);
    expect(told()).toEqual(['token expiring']);
    await clock.advance(60_000);
    expect(told()).toEqual([]);
    expect(await say('send stats')).toEqual(['jwt error jwt: exp claim is invalid']);
  });

  it('that has expired is forgotten by Calagopus, which pings at each check', async () => {
    open(CALAGOPUS);
    connection.checkToken();
    await authenticate();
    const before = socket.sent.length;
    connection.expireNow();
    expect([socket.sent.slice(before).map(shortForm), socket.done]).toEqual([
      ['token expired'],
      ['ping', 'ping'],
    ]);
    await say('send stats');
    expect(socket.done).toEqual(['ping', 'ping', 'terminate']);
  });
});

describe('a message', () => {
  it('without a token is an error', async () => {
    open();
    expect(await say('send stats')).toEqual(['jwt error jwt: no jwt present']);
  });

  it.each<[string, readonly string[], readonly unknown[], readonly string[], readonly string[]]>([
    ['send stats', ['*'], [], ['stats {}'], []],
    ['send logs', ['*'], [], ['console output one', 'console output two'], []],
    ['set state', ['*'], ['restart'], [], ['restart']],
    ['set state', ['control.stop'], ['kill'], [], ['kill']],
    ['set state', ['control.start'], ['kill'], [], []],
    ['set state', ['*'], ['explode'], [], []],
    ['send command', ['control.console'], ['list'], [], ['> list']],
    ['send command', ['control.stop'], ['list'], [], []],
    ['send command', ['*'], [7], [], ['> ']],
    ['other', ['*'], [], [], []],
  ])('%s with %j does what it says: %j', async (event, permissions, args, said, done) => {
    open();
    server.log.push('one', 'two');
    await authenticate([...permissions, 'websocket.connect']);
    expect([await say(event, ...args), asked]).toEqual([said, done]);
  });

  it.each(['send logs', 'send command'])('%s means nothing to a server that is off', async (event) => {
    open();
    server.log.push('one');
    server.game = { ...server.game, state: 'offline' };
    await authenticate();
    expect([await say(event, 'list'), asked]).toEqual([[], []]);
  });

  it('that is unreadable or too long is recorded, and dropped', async () => {
    open();
    await authenticate();
    socket.emit('message', Buffer.from('{'), false);
    socket.emit('message', Buffer.from('{"event":"a"}'), true);
    socket.emit('message', Buffer.alloc(MAX_CLIENT_FRAME_BYTES + 1), false);
    expect(recorder.frames.slice(1)).toMatchObject([
      { event: '(unreadable)', accepted: false },
      { event: '(unreadable)', accepted: false },
      { event: '(unreadable)', accepted: false },
    ]);
    expect(recorder.counters.oversizeFrames).toBe(1);
  });

  it('is throttled beyond the rate, but not by Calagopus; tokens are never recorded', async () => {
    for (const [settings, throttled] of [
      [{}, true],
      [CALAGOPUS, false],
    ] as const) {
      open(settings);
      recorder.clear();
      await authenticate();
      const responses = [];
      for (let count = 0; count < 12; count += 1) responses.push(...(await say('send stats')));
      expect(responses.includes('throttled send stats')).toBe(throttled);
      expect(responses.filter((one) => one === 'stats {}')).toHaveLength(throttled ? 3 : 12);
      expect(recorder.counters.wouldHaveCrashed).toBe(1);
      expect(recorder.frames[0]).not.toHaveProperty('args', expect.anything());
    }
  });
});

describe('a fault', () => {
  it.each<[SocketFault, readonly string[]]>([
    [{ kind: 'ignore-auth' }, []],
    [{ kind: 'jwt-error-on-auth' }, ['jwt error Error Event: jwt: exp claim is invalid']],
    [{ kind: 'jwt-error-on-auth', text: 'no' }, ['jwt error Error Event: no']],
    [{ kind: 'daemon-error-on-auth', text: 'Error Event: no' }, ['daemon error Error Event: no']],
  ])('%j is the response to a token', async (fault, said) => {
    open();
    faults.addSocket(fault);
    expect(await say('auth', await token())).toEqual(said);
  });

  it('keeps stats back', async () => {
    open();
    await authenticate();
    faults.addSocket({ kind: 'silence' });
    expect(await say('send stats')).toEqual([]);
  });
});

describe('an action', () => {
  it.each<[SocketAction, readonly string[], readonly string[]]>([
    [{ kind: 'drop' }, [], ['terminate']],
    [{ kind: 'half-open' }, [], ['pause']],
    [{ kind: 'close', code: 4_000, reason: 'a' }, [], ['close 4000 a']],
    [{ kind: 'binary', base64: 'YQ==' }, ['binary a'], []],
  ])('%j', (action, sent, done) => {
    open();
    connection.act(action);
    expect([socket.sent, socket.done]).toEqual([sent, done]);
  });

  it('that ends the socket is no close by the client', () => {
    open();
    connection.act({ kind: 'close', code: 4_000 });
    expect(recorder.sockets(UUID)).toMatchObject({ open: 0, lastCloseCode: undefined });
  });

  it('after which the socket is half open sends nothing more', () => {
    open();
    connection.act({ kind: 'half-open' });
    connection.sendRaw('a', false);
    expect([socket.sent, recorder.openSockets]).toEqual([[], 0]);
  });

  it('may end the token', async () => {
    open();
    await authenticate();
    connection.act({ kind: 'expire' });
    expect(await say('send stats')).toEqual(['jwt error jwt: exp claim is invalid']);
  });
});
