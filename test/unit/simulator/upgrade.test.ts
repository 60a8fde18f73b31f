import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { beforeEach, describe, expect, it } from 'vitest';
import { Faults } from '../../../src/simulator/faults.ts';
import { Recorder } from '../../../src/simulator/recorder.ts';
import { createServer, type SimulatedServer } from '../../../src/simulator/simulated-server.ts';
import type { SocketFault } from '../../../src/simulator/simulator-schema.ts';
import { initialSettings, type SettingsChange } from '../../../src/simulator/simulator-settings.ts';
import { handleUpgrade, type UpgradeHost } from '../../../src/simulator/upgrade.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const UUID = '1a7ce997-259b-452e-8b4e-cecc464142ca';
const ORIGIN = 'https://panel.example.com';
const PATH = `/api/servers/${UUID}/ws`;
const CALAGOPUS: SettingsChange = { panel: 'calagopus' };

let faults: Faults;
let recorder: Recorder;

beforeEach(() => {
  faults = new Faults();
  recorder = new Recorder();
});

/** A test's changes to a node and to a request. */
interface Attempt {
  readonly settings?: SettingsChange;
  readonly server?: (server: SimulatedServer) => void;
  readonly unauthenticated?: number;
  readonly node?: 0 | 1;
  readonly path?: string;
  readonly origin?: string;
}

/** The result of an upgrade: a socket with the actions on it, or a response. */
function upgrade({
  settings: changes = {},
  server: change,
  unauthenticated = 0,
  node = 0,
  path = PATH,
  origin = ORIGIN,
}: Attempt = {}) {
  const clock = new ManualClock();
  const settings = initialSettings(changes);
  const server = createServer({ name: 'survival', uuid: UUID }, 1, clock.now(), settings);
  change?.(server);
  const seen: string[] = [];
  const ws = Object.assign(new EventEmitter(), {
    close: (code: number, reason: string) => void seen.push(`close ${code} ${reason}`),
    pause: () => void seen.push('pause'),
  });
  const waiting = new Set(Array.from({ length: unauthenticated }, (_, index) => index));
  const host = {
    clock,
    settings,
    faults,
    recorder,
    unauthenticated: [waiting, new Set()],
    expectedOrigin: () => ORIGIN,
    findByUuid: (uuid: string) => (uuid === UUID ? server : undefined),
    webSockets: {
      handleUpgrade: (_request: unknown, _socket: unknown, _head: unknown, opened: (ws: unknown) => void) => {
        seen.push('open');
        opened(ws);
      },
    },
  } as unknown as UpgradeHost;
  const socket = {
    end: (text: string) => void seen.push(text),
    destroy: () => void seen.push('destroy'),
  } as unknown as Duplex;
  const request = { url: path, headers: { origin, host: 'node:1' } } as unknown as IncomingMessage;
  handleUpgrade(host, node, request, socket, Buffer.alloc(0));
  return seen;
}

/** The status and the body of a response. */
function response([text = '']: readonly string[]) {
  const [head = '', body] = text.split('\r\n\r\n');
  return [/^HTTP\/1\.1 (\d+ .*)/.exec(head)?.[1], body];
}

const NOT_HERE = '{"error":"The requested resource does not exist on this instance."}';

describe('an upgrade', () => {
  it('opens a socket', () => {
    expect(upgrade()).toEqual(['open']);
    expect(recorder.sockets(UUID).open).toBe(1);
  });

  it.each<[string, Attempt, string, string]>([
    ['at another path', { path: '/' }, '404 Not Found', NOT_HERE],
    ['of an unknown server', { path: PATH.replace('1a', '1b') }, '404 Not Found', NOT_HERE],
    ['on another node', { node: 1 }, '404 Not Found', NOT_HERE],
    [
      'of an unknown server of Calagopus',
      { path: '/', settings: CALAGOPUS },
      '404 Not Found',
      '{"errors":["server not found"]}',
    ],
    ['with another origin', { origin: 'https://other' }, '403 Forbidden', 'Forbidden\n'],
    [
      'beside too many others',
      { settings: { maxSocketsPerServer: 1 }, server: ({ connections }) => connections.add({} as never) },
      '400 Bad Request',
      '{"error":"Too many open websocket connections."}',
    ],
    [
      'beside too many without a token, of Calagopus',
      { settings: CALAGOPUS, unauthenticated: 32 },
      '429 Too Many Requests',
      '{"errors":["too many connections"]}',
    ],
  ])('%s is refused', (_what, attempt, status, body) => {
    expect(response(upgrade(attempt))).toEqual([status, body]);
  });

  it.each<[string, Attempt]>([
    ['beside many without a token', { unauthenticated: 99 }],
    ['of Calagopus beside some without a token', { settings: CALAGOPUS, unauthenticated: 31 }],
    ['of Calagopus with another origin', { settings: CALAGOPUS, origin: 'https://other' }],
    [
      'of Calagopus beside many others',
      {
        settings: { ...CALAGOPUS, maxSocketsPerServer: 1 },
        server: ({ connections }) => connections.add({} as never),
      },
    ],
  ])('%s is accepted', (_what, attempt) => {
    expect(upgrade(attempt)).toEqual(['open']);
  });

  it('of a node that is down is cut', () => {
    expect(upgrade({ server: (server) => (server.nodeDown = true) })).toEqual(['destroy']);
  });

  it('of a suspended server is closed, but not by Calagopus', () => {
    const server = (one: SimulatedServer) => (one.conflict = 'suspended');
    expect(upgrade({ server })).toEqual(['open', 'close 4409 server is suspended']);
    expect(upgrade({ server, settings: CALAGOPUS })).toEqual(['open']);
  });

  it('counts wrong origins, and sockets that are too many', () => {
    upgrade({ origin: 'https://other' });
    upgrade({ settings: CALAGOPUS, unauthenticated: 32 });
    expect(recorder.counters).toMatchObject({ wrongOrigin: 1, socketsLimited: 1 });
  });
});

describe('a fault', () => {
  const withFault = (fault: SocketFault) => {
    faults.addSocket(fault);
    return upgrade();
  };

  it.each<[SocketFault, readonly string[]]>([
    [{ kind: 'hang-upgrade' }, []],
    [{ kind: 'drop-upgrade' }, ['destroy']],
    [{ kind: 'close-on-open', code: 4_000 }, ['open', 'close 4000 ']],
    [{ kind: 'half-open-on-open' }, ['open', 'pause']],
  ])('%j', (fault, seen) => {
    expect(withFault(fault)).toEqual(seen);
  });

  it.each([
    ['refused\n', 'text/plain'],
    ['<html>', 'text/html'],
    ['{}', 'application/json'],
  ])('refuses an upgrade with %j as %s', (body, type) => {
    const [text = ''] = withFault({
      kind: 'refuse-upgrade',
      status: 302,
      body,
      location: '/login',
      headers: { a: 'b' },
    });
    expect(text.split('\r\n')).toEqual([
      'HTTP/1.1 302 Found',
      'Connection: close',
      `Content-Type: ${type}; charset=utf-8`,
      `Content-Length: ${body.length}`,
      'a: b',
      'Location: /login',
      '',
      body,
    ]);
  });
});
