import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { INTERNAL_ERRORS } from '../../../src/domain/internal-errors.ts';
import type { Problem } from '../../../src/domain/problems.ts';
import { PanelError } from '../../../src/panel/panel-error.ts';
import type { Credentials } from '../../../src/panel/responses.ts';
import type { SocketAttempt } from '../../../src/panel/socket-attempt.ts';
import type { ClientMessage } from '../../../src/panel/socket-codec.ts';
import { atOnce, type InTurn } from '../../../src/session/connect-pacer.ts';
import { HandshakeRoom } from '../../../src/session/handshake-room.ts';
import { SILENCE_MS } from '../../../src/session/machine-effects.ts';
import type { SessionContext, SessionRecord } from '../../../src/session/session-ports.ts';
import type { SocketListener } from '../../../src/session/socket.ts';
import { Streamer } from '../../../src/session/streamer.ts';
import { deferred } from '../../support/deferred.ts';
import { FakeGateway, SETTINGS, STATS, socketsOpenedBy } from '../../support/fleet-bench.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { sampleOf } from '../../support/samples.ts';
import { target } from '../../support/targets.ts';

const SAMPLE = sampleOf({ state: 'running', memoryBytes: 5 });
const ABNORMAL = { code: 1006, text: '', oversize: false };

/** A socket whose opening and closing the test determines. */
interface OpenedSocket {
  readonly url: string;
  readonly listener: SocketListener;
  readonly sent: ClientMessage[];
  isClosed: boolean;
}

let clock: ManualClock;
let panel: FakeGateway;
let sockets: OpenedSocket[];
/** The events in the order in which the session and the record learned of them. */
let events: string[];
let addressProblem: Problem | undefined;
let openError: Error | undefined;
let inTurn: InTurn;
let closes: () => Promise<void>;
let record: SessionRecord;
let streamer: Streamer;
let changed: ReturnType<typeof vi.fn<() => void>>;

const tell = (event: string) => () => void events.push(event);

beforeEach(() => {
  clock = new ManualClock();
  panel = new FakeGateway();
  sockets = [];
  events = [];
  addressProblem = undefined;
  openError = undefined;
  inTurn = atOnce;
  closes = () => Promise.resolve();
  record = {
    target: target({ id: 's' }),
    node: 'n1',
    sampledAt: undefined,
    interrupted: tell('interrupted'),
    socketSample: ({ memoryBytes }) => void events.push(`sample ${memoryBytes}`),
    stateHint: (state) => void events.push(`state ${state}`),
    consoleLines: 0,
    awaitsNotice: true,
    daemonNotice: ({ kind }) => void events.push(kind),
    socketHost: undefined,
    pollSample: tell('poll'),
    setPolledStaleness: tell('staleness'),
    setCollection: tell('collection'),
  };
  const context: SessionContext = {
    clock,
    log: {
      conditionChanged: tell('condition'),
      socketMoved: (_record, from, to) => void events.push(`moved from ${from} to ${to}`),
    },
    random: () => 0.5,
    panel,
    telemetry: {
      reconnect: (reason) => void events.push(`reconnect: ${reason}`),
      badMessage: (kind) => void events.push(`bad message: ${kind}`),
    },
    settings: SETTINGS,
    backupCompleted: (of) => void events.push(`backup of ${of.target.id}`),
    surroundings: () => {
      throw new Error('expected no look at the surroundings');
    },
    sockets: {
      ...socketsOpenedBy((url, listener) => {
        if (openError !== undefined) throw openError;
        const socket: OpenedSocket = { url, listener, sent: [], isClosed: false };
        sockets.push(socket);
        return {
          send: (message: ClientMessage) => void socket.sent.push(message),
          close: () => {
            socket.isClosed = true;
            return closes();
          },
        };
      }),
      inTurn: (begin) => inTurn(begin),
      handshakes: new HandshakeRoom(
        () => undefined,
        (begin) => inTurn(begin),
      ),
      addressProblem: () => addressProblem,
    },
  };
  changed = vi.fn<() => void>();
  streamer = new Streamer(context, record, { changed });
});

const state = () => streamer.machine.name;
const problem = () => ('problem' in streamer.machine ? streamer.machine.problem : undefined);
const taken = () => events.splice(0);

/** Starts an attempt, and opens its socket. */
async function connect(): Promise<void> {
  streamer.happened({ type: 'try', isFresh: false });
  await clock.advance(10);
}

/** Makes the socket stream. */
async function stream(): Promise<void> {
  await connect();
  streamer.opened();
  streamer.authenticated();
  streamer.stats(SAMPLE);
}

describe('an attempt', () => {
  it('fetches a token, opens a socket, offers the token, and streams with the first stats', async () => {
    await connect();
    expect(panel.calls).toEqual(['credentials s']);
    expect(sockets.map(({ url }) => url)).toEqual(['wss://node/s']);
    expect(state()).toBe('connecting');
    streamer.opened();
    expect(sockets[0]?.sent).toEqual([{ event: 'auth', token: 'token of s' }]);
    expect(taken()).toEqual(['interrupted']);
    streamer.authenticated();
    expect(state()).toBe('opening');
    streamer.stats(SAMPLE);
    expect(state()).toBe('streaming');
    expect(taken()).toEqual(['sample 5']);
    expect(panel.attempts).toEqual(['s: success']);
  });

  it('is reported with its beginning', async () => {
    const attempts: SocketAttempt[] = [];
    panel.socketEnded = (_server, attempt) => void attempts.push(attempt);
    const startedAt = clock.now();
    await stream();
    expect(attempts).toEqual([{ startedAt, url: 'wss://node/s', end: undefined }]);
  });

  it('after a refusal is classified as a retry, and anew when it is woken', async () => {
    panel.answerCredentials = () =>
      Promise.reject(new PanelError({ cause: 'forbidden', detail: 'returned 403' }));
    await connect();
    expect(state()).toBe('blocked');
    panel.answerCredentials = () => new Promise(() => undefined);
    streamer.happened({ type: 'try', isFresh: false });
    expect([state(), panel.reclassified]).toEqual(['fetchingToken', ['s']]);
    streamer.happened({ type: 'wake' });
    expect(panel.reclassified).toEqual(['s', 's']);
  });

  it('that may be repeated is not begun here: its owner decides when', async () => {
    panel.answerCredentials = () => Promise.reject(new Error('refused'));
    await connect();
    changed.mockClear();
    await clock.advance(60_000);
    expect(changed).toHaveBeenCalled();
    expect(panel.calls).toHaveLength(1);
  });

  it('that is no longer needed withdraws its call for a token', async () => {
    const signals: AbortSignal[] = [];
    const credentials = deferred<Credentials>();
    panel.answerCredentials = (_server, signal) => {
      signals.push(signal);
      return credentials.promise;
    };
    await connect();
    streamer.happened({ type: 'stop' });
    expect(signals[0]?.aborted).toBe(true);
    credentials.resolve({ token: 'late', socketUrl: 'wss://node/s', lifetimeMs: 600_000 });
    await clock.advance(10);
    expect([state(), sockets.length]).toEqual(['idle', 0]);
  });

  it('ignores the token of an earlier one', async () => {
    const earlier = deferred<Credentials>();
    panel.answerCredentials = () => earlier.promise;
    await connect();
    streamer.happened({ type: 'stop' });
    panel.answerCredentials = () => new Promise(() => undefined);
    await connect();
    earlier.resolve({ token: 'late', socketUrl: 'wss://node/s', lifetimeMs: 600_000 });
    await clock.advance(10);
    expect([state(), sockets.length]).toEqual(['fetchingToken', 0]);
  });

  it('fails with the token', async () => {
    panel.answerCredentials = () => Promise.reject(new Error('refused'));
    await connect();
    expect(state()).toBe('backingOff');
    expect(problem()).toMatchObject({ detail: 'refused' });
  });

  it('fails without a socket if its address may not be opened any more', async () => {
    const credentials = deferred<Credentials>();
    panel.answerCredentials = () => credentials.promise;
    let begins: () => void = () => undefined;
    inTurn = (begin) => {
      begins = begin;
      return () => undefined;
    };
    await connect();
    credentials.resolve({ token: 't', socketUrl: 'wss://node/s', lifetimeMs: 600_000 });
    await clock.advance(10);
    addressProblem = { cause: 'socket_address', detail: 'expected another host' };
    begins();
    expect(sockets).toEqual([]);
    expect(problem()).toEqual(addressProblem);
  });

  it('fails if the socket can’t even be created', async () => {
    openError = new SyntaxError('the URL is invalid');
    await connect();
    expect(state()).toBe('backingOff');
    expect(problem()?.detail).toContain('the URL is invalid');
  });

  it('that is over before its turn opens no socket', async () => {
    const turns: (() => void)[] = [];
    inTurn = (begin) => {
      turns.push(begin);
      return () => undefined;
    };
    await connect();
    streamer.happened({ type: 'stop' });
    for (const turn of turns) turn();
    await clock.advance(10);
    expect([state(), sockets.length]).toEqual(['idle', 0]);
  });

  it('waits until the socket before is closed', async () => {
    const closed = deferred<void>();
    closes = () => closed.promise;
    await stream();
    streamer.happened({ type: 'stop' });
    expect(sockets[0]?.isClosed).toBe(true);
    await connect();
    expect([state(), sockets.length]).toEqual(['connecting', 1]);
    closed.resolve();
    await clock.advance(10);
    expect(sockets).toHaveLength(2);
  });
});

describe('the host of the socket', () => {
  it('is stored, and the server is classified anew', async () => {
    await connect();
    expect(record.socketHost).toBe('node');
    expect(panel.reclassified).toEqual(['s']);
    expect(taken()).toEqual([]);
  });

  it('is logged only if it changed', async () => {
    record.socketHost = 'old-node:8080';
    await stream();
    expect(taken()).toContain('moved from old-node:8080 to node');
    streamer.happened({ type: 'stop' });
    await connect();
    expect(taken().filter((event) => event.startsWith('moved'))).toEqual([]);
    expect(panel.reclassified).toEqual(['s']);
  });
});

describe('a socket that ends', () => {
  beforeEach(async () => {
    await stream();
    taken();
  });

  it('is closed, counted, and followed by another attempt', async () => {
    streamer.closed(ABNORMAL);
    expect(state()).toBe('backingOff');
    expect(taken()).toEqual(['reconnect: closed']);
    expect(panel.attempts.at(-1)).toBe(`s: ${problem()?.cause}`);
  });

  it('is handled in its turn', () => {
    let begins: () => void = () => undefined;
    inTurn = (begin) => {
      begins = begin;
      return () => undefined;
    };
    streamer.closed(ABNORMAL);
    expect(state()).toBe('streaming');
    begins();
    expect(state()).toBe('backingOff');
  });

  it('because of a long message is counted as such', () => {
    streamer.closed({ ...ABNORMAL, oversize: true });
    streamer.oversize();
    expect(taken().filter((event) => event.startsWith('bad'))).toEqual([
      'bad message: oversize',
      'bad message: oversize',
    ]);
  });

  it('is one with 21 unreadable messages within a minute', async () => {
    for (let count = 0; count < 20; count += 1) streamer.unreadable();
    await clock.advance(1_000);
    expect(state()).toBe('streaming');
    streamer.unreadable();
    expect(problem()?.cause).toBe('unreadable');
  });

  it('isn’t one whose unreadable messages are spread over minutes', async () => {
    for (let quarter = 0; quarter < 12; quarter += 1) {
      for (let count = 0; count < 5; count += 1) streamer.unreadable();
      streamer.stats(SAMPLE);
      await clock.advance(SILENCE_MS);
    }
    expect(state()).toBe('streaming');
  });

  it('is one whose message the exporter fails to handle, which is reported', () => {
    const report = vi.spyOn(INTERNAL_ERRORS, 'report').mockReturnValue();
    onTestFinished(() => report.mockRestore());
    record.socketSample = () => {
      throw new Error('a mistake');
    };
    expect(streamer.message(Buffer.from(STATS), false)).toBe(false);
    expect(report).toHaveBeenCalledWith(new Error('a mistake'));
    expect(problem()).toMatchObject({ cause: 'unexpected' });
  });
});

describe('what a socket sends', () => {
  beforeEach(async () => {
    await stream();
    taken();
    sockets[0]?.sent.splice(0);
  });

  it.each<[string, () => void, readonly string[]]>([
    ['a state', () => streamer.status('stopping'), ['state stopping']],
    ['a completed backup', () => streamer.backupCompleted(), ['backup of s']],
    ['a frame of stats', () => void streamer.message(Buffer.from(STATS), false), ['sample 5']],
  ])('%s reaches the record', (_what, send, expected) => {
    send();
    expect(taken()).toEqual(expected);
  });

  const line = (text: string) => Buffer.from(JSON.stringify({ event: 'console output', args: [text] }));

  it('a console line is counted, and read only for notices about a stop', () => {
    streamer.consoleLine(line('hello'));
    streamer.consoleLine(line('\u001b[33m\u001b[1m[Pterodactyl Daemon]: Exit code: 137\u001b[0m'));
    expect(record.consoleLines).toBe(2);
    expect(taken()).toEqual(['exit code']);
  });

  it('after a fixable token error events may be missing', () => {
    streamer.jwtError({ message: 'jwt: exp claim is invalid', isFixable: true, answersToken: false });
    expect(taken()).toContain('interrupted');
  });

  it('silence leads to a request for stats, and two unanswered ones to the end of the socket', async () => {
    const requests = () => sockets[0]?.sent.filter(({ event }) => event === 'send stats').length;
    await clock.advance(SILENCE_MS - 1);
    expect(requests()).toBe(0);
    await clock.advance(1);
    expect(requests()).toBe(1);
    streamer.stats(SAMPLE);
    await clock.advance(3 * SILENCE_MS);
    expect(requests()).toBe(3);
    expect(state()).toBe('backingOff');
    expect(sockets[0]?.isClosed).toBe(true);
  });

  it('stats postpone the end of a silence, which takes no turn of the event loop', async () => {
    const turns = vi.fn<InTurn>(atOnce);
    inTurn = turns;
    await clock.advance(10_000);
    streamer.stats(SAMPLE);
    await clock.advance(10_000);
    expect(sockets[0]?.sent).toEqual([]);
    expect(turns).not.toHaveBeenCalled();
  });

  it('a token that ends is renewed, and the next one is offered on the same socket', async () => {
    panel.answerCredentials = () =>
      Promise.resolve({ token: 'next', socketUrl: 'wss://node/s', lifetimeMs: 600_000 });
    streamer.tokenEnding();
    expect(state()).toBe('renewing');
    await clock.advance(10);
    expect(sockets[0]?.sent.at(-1)).toEqual({ event: 'auth', token: 'next' });
    streamer.authenticated();
    expect([state(), sockets.length]).toEqual(['streaming', 1]);
  });
});
