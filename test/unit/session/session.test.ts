import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { INTERNAL_ERRORS } from '../../../src/domain/internal-errors.ts';
import type { Problem } from '../../../src/domain/problems.ts';
import type { ServerTarget } from '../../../src/domain/server.ts';
import { PanelSurroundings } from '../../../src/fleet/panel-surroundings.ts';
import { ServerRecord } from '../../../src/fleet/server-record.ts';
import { sessionLog } from '../../../src/fleet/session-log.ts';
import { PanelError } from '../../../src/panel/panel-error.ts';
import { POLL_CACHE_MS } from '../../../src/panel/responses.ts';
import { atOnce, type InTurn } from '../../../src/session/connect-pacer.ts';
import { HandshakeRoom } from '../../../src/session/handshake-room.ts';
import { Session } from '../../../src/session/session.ts';
import { FakeGateway, FakeSocket, SETTINGS, STATS, socketsOpenedBy } from '../../support/fleet-bench.ts';
import { collectingLogger } from '../../support/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { target } from '../../support/targets.ts';

const MINUTE = 60_000;
const DOWN: Problem = { cause: 'upgrade_error', detail: 'the node returned 502' };

let clock: ManualClock;
let panel: FakeGateway;
let log: ReturnType<typeof collectingLogger>;
let sockets: FakeSocket[];
/** The status with which the node rejects sockets. */
let refusal: number | undefined;
/** The problem because of which no socket may be opened. */
let addressProblem: Problem | undefined;
let hasRoom: boolean;
let inTurn: InTurn;
let handshakes: HandshakeRoom;
/** The fleet's knowledge of the node and the panel. */
let known: PanelSurroundings;
let record: ServerRecord;
let session: Session;

beforeEach(() => {
  clock = new ManualClock();
  panel = new FakeGateway();
  log = collectingLogger();
  sockets = [];
  refusal = undefined;
  addressProblem = undefined;
  hasRoom = true;
  inTurn = atOnce;
  handshakes = new HandshakeRoom(
    () => undefined,
    (begin) => inTurn(begin),
  );
  known = new PanelSurroundings({ clock, gateway: panel });
});

afterEach(async () => {
  look(false);
  await session.closing;
  expect(clock.pending).toBe(0);
});

/** Starts the session of server s on node n1. */
async function start(
  changes: Partial<ServerTarget> = {},
  server = target({ id: 's', node: 'n1', ...changes }),
): Promise<void> {
  record = new ServerRecord(server, { socket: MINUTE, poll: MINUTE });
  session = new Session(
    {
      clock,
      log: sessionLog(log),
      random: () => 0.5,
      panel,
      telemetry: {},
      settings: SETTINGS,
      surroundings: (of, isRunning) => known.of(of, { isRunning, hasRoom, ...SETTINGS }),
      sockets: {
        ...socketsOpenedBy((url, listener) => {
          const socket = new FakeSocket(url, listener, refusal);
          sockets.push(socket);
          return socket;
        }),
        inTurn: (begin) => inTurn(begin),
        handshakes,
        addressProblem: () => addressProblem,
      },
    },
    record,
  );
  look();
  await clock.advance(10);
}

/** Gives the session the current facts. */
function look(isRunning = true): void {
  session.sees(known.of(record, { isRunning, hasRoom, ...SETTINGS }));
}

const condition = () => record.status.condition;
const tokens = () => panel.asked('credentials').length;

/** Blames the node's sockets. */
function nodeFails(): void {
  panel.socketsFail('n1', DOWN);
  look();
}

/** Chooses the session for the trial of its node. */
async function tryNode(isFresh = false): Promise<void> {
  panel.trying.set('s', { isFresh });
  look();
  await clock.advance(10);
}

describe('the end of a socket', () => {
  it('is dealt with when its turn comes, and not if the session has ended meanwhile', async () => {
    await start();
    expect(condition()).toBe('streaming');
    const turns: (() => void)[] = [];
    inTurn = (run) => {
      turns.push(run);
      return () => undefined;
    };
    sockets[0]?.drops();
    expect(session.machine.name).toBe('streaming');
    turns.shift()?.();
    expect(session.machine).toMatchObject({ name: 'backingOff', problem: { cause: 'closed' } });
    inTurn = atOnce;
    await clock.advance(60_000);
    expect(condition()).toBe('streaming');
    inTurn = (run) => {
      turns.push(run);
      return () => undefined;
    };
    sockets[1]?.drops();
    look(false);
    turns.shift()?.();
    expect(session.machine.name).toBe('idle');
    expect(condition()).toBe('stopped');
  });
});

describe('a connect that waits for room at its daemon', () => {
  let leave: () => void;

  beforeEach(async () => {
    handshakes = new HandshakeRoom(
      () => 1,
      (begin) => inTurn(begin),
    );
    leave = handshakes.enter('wss://node/other', () => undefined);
    await start();
    expect([sockets.length, session.machine.name]).toEqual([0, 'connecting']);
  });

  /** Whether another socket may start at once. */
  function hasPlace(): boolean {
    let isBegun = false;
    handshakes.enter('wss://node/other', () => (isBegun = true))();
    return isBegun;
  }

  it('begins once there is some, and gives it up once its token is accepted', async () => {
    leave();
    await clock.advance(10);
    expect([condition(), hasPlace()]).toEqual(['streaming', true]);
  });

  it('gives it up if the node refuses the socket', async () => {
    refusal = 502;
    leave();
    await clock.advance(10);
    expect([session.machine.name, hasPlace()]).toEqual(['backingOff', true]);
  });

  it('gives it up if no socket is needed any more', async () => {
    look(false);
    leave();
    await clock.advance(10);
    expect([sockets.length, hasPlace()]).toEqual([0, true]);
  });
});

describe('a connect that waits for its turn', () => {
  let begins: (() => void)[];

  beforeEach(() => {
    begins = [];
    inTurn = (begin) => {
      begins.push(begin);
      return () => {
        const place = begins.indexOf(begin);
        if (place >= 0) begins.splice(place, 1);
      };
    };
  });

  /** Runs the turns of everything that waits for one. */
  const takeTurns = () => {
    for (const begin of begins.splice(0)) begin();
  };

  it('never times out, and has the whole timeout once it begins', async () => {
    await start();
    await clock.advance(2 * SETTINGS.connectTimeoutMs);
    expect(sockets).toHaveLength(0);
    expect(session.machine).toMatchObject({ name: 'connecting', failures: 0 });
    begins.pop()?.();
    await clock.advance(0);
    expect(sockets).toHaveLength(1);
    expect(condition()).toBe('streaming');
  });

  it('fails as late after its beginning as if it had not waited', async () => {
    await start();
    await clock.advance(MINUTE / 2);
    // The server's node doesn't respond.
    refusal = 0;
    takeTurns();
    void sockets[0]?.close();
    await clock.advance(SETTINGS.connectTimeoutMs - 1);
    expect(session.machine.name).toBe('connecting');
    await clock.advance(1);
    takeTurns();
    expect(session.machine).toMatchObject({ name: 'backingOff', failures: 1 });
  });

  it('fails in its turn, too: thousands may time out together', async () => {
    await start();
    refusal = 0;
    takeTurns();
    await clock.advance(SETTINGS.connectTimeoutMs);
    expect(session.machine.name).toBe('connecting');
    look(false);
    const { machine } = session;
    takeTurns();
    expect([machine.name, session.machine]).toEqual(['idle', machine]);
  });

  it('never begins when the server is no longer monitored, and begins once when it is monitored again', async () => {
    await start();
    expect(begins).toHaveLength(1);
    look(false);
    takeTurns();
    expect(sockets).toHaveLength(0);
    look();
    await clock.advance(0);
    takeTurns();
    await clock.advance(0);
    expect(sockets).toHaveLength(1);
  });
});

describe('a call', () => {
  it('for the first token goes before all that are due, and later ones have ten minutes', async () => {
    panel.answerCredentials = () => Promise.reject(new PanelError({ cause: 'panel_error', detail: '500' }));
    await start();
    await clock.advance(20_000);
    const [first, second] = panel.asks;
    expect(first).toMatchObject({ isRenewal: false });
    expect(first?.isRetry?.()).toBe(false);
    expect(first?.deadline).toBeLessThan(clock.now() - 9 * MINUTE);
    expect(second?.deadline).toBeGreaterThan(clock.now() + 9 * MINUTE);
  });

  it('for the first token has ten minutes if the server’s own limit delays it, because its poll goes before', async () => {
    panel.delayed.add('s');
    await start();
    expect(panel.asks[0]?.deadline).toBeGreaterThan(clock.now() + 9 * MINUTE);
  });

  it('for the first token goes before all that are due although a limit delays it, if no poll takes its place', async () => {
    panel.delayed.add('s');
    await start({ mode: 'socket' });
    expect(panel.asks[0]?.deadline).toBeLessThan(clock.now() - 9 * MINUTE);
  });

  it('for the first token that the limit of the server’s console refuses is followed by a poll at once', async () => {
    panel.answerCredentials = () => {
      panel.delayed.add('s');
      return Promise.reject(
        new PanelError({ cause: 'console_limit', detail: 'returned 429', retryAfterMs: MINUTE }),
      );
    };
    await start();
    expect(panel.calls).toEqual(['credentials s', 'resources s']);
    expect(condition()).toBe('polling');
  });

  it('for the next token is needed by the end of the current one', async () => {
    await start();
    const endsAt = clock.now() - 10 + 10 * MINUTE;
    await clock.advance(10 * MINUTE);
    expect(panel.asks[1]).toMatchObject({ isRenewal: true, deadline: endsAt });
  });

  it('for the first poll goes before all that are due, and later ones have an interval', async () => {
    await start({ mode: 'poll' });
    await clock.advance(MINUTE);
    const [first, second] = panel.asks;
    expect(first?.deadline).toBeLessThan(clock.now() - 9 * MINUTE);
    const startedAt = clock.now() - MINUTE - 10;
    expect(second?.deadline).toBe(startedAt + 37_500 + 30_000);
  });
});

it('that fails to handle a message reports it, and begins again with another socket', async () => {
  const reported: unknown[] = [];
  onTestFinished(INTERNAL_ERRORS.listen((error) => reported.push(error)));
  await start();
  const error = new Error('a bug');
  const failing = vi.spyOn(record, 'stateHint').mockImplementation(() => {
    throw error;
  });
  for (let sent = 0; sent < 5; sent += 1) sockets.at(-1)?.receive('{"event":"status","args":["offline"]}');
  expect(reported).toEqual([error]);
  expect(sockets.map(({ ended }) => ended)).toEqual(['closed']);
  expect(session.machine).toMatchObject({ name: 'backingOff', problem: { cause: 'unexpected' } });
  failing.mockRestore();
  await clock.advance(10_000);
  expect(condition()).toBe('streaming');
});

describe("texts that aren't JSON", () => {
  const texts = ['', 'garbage', '{"event":"stat', '{"event":"stats","args":["{oops"]}'];
  const send = (count: number) => {
    for (let sent = 0; sent < count; sent += 1) sockets.at(-1)?.receive(texts[sent % texts.length] ?? '');
  };

  it('are skipped, up to 20 within a minute', async () => {
    await start();
    for (let minute = 0; minute < 5; minute += 1) {
      send(20);
      sockets.at(-1)?.receive(STATS);
      await clock.advance(MINUTE);
    }
    expect(sockets).toHaveLength(1);
    expect(condition()).toBe('streaming');
  });

  it('end the socket when there are more, with a cause of their own, and the next socket begins anew', async () => {
    await start();
    send(10_000);
    expect(session.machine).toMatchObject({ name: 'backingOff', problem: { cause: 'unreadable' } });
    expect(sockets.map(({ ended }) => ended)).toEqual(['closed']);
    await clock.advance(10_000);
    expect(sockets).toHaveLength(2);
    send(20);
    expect(condition()).toBe('streaming');
  });

  it('on the console count as well, while the daemon may explain a stop', async () => {
    await start();
    sockets.at(-1)?.receive('{"event":"status","args":["running"]}');
    sockets.at(-1)?.receive('{"event":"status","args":["offline"]}');
    for (let sent = 0; sent < 21; sent += 1) sockets.at(-1)?.receive('{"event":"console output"');
    expect(session.machine).toMatchObject({ problem: { cause: 'unreadable' } });
  });
});

describe("while its node's sockets are blamed", () => {
  it('its trial is one connect, with the token that it has, and reports how it ended', async () => {
    refusal = 502;
    await start();
    nodeFails();
    await clock.advance(MINUTE);
    panel.attempts.length = 0;
    await tryNode();
    expect([sockets.length, tokens()]).toEqual([2, 1]);
    expect(panel.attempts).toEqual(['s: upgrade_error']);
    refusal = undefined;
    await clock.advance(MINUTE);
    await tryNode();
    expect(panel.attempts.at(-1)).toBe('s: success');
    expect(condition()).toBe('streaming');
  });

  it('a server that is removed tries nothing', async () => {
    refusal = 502;
    await start();
    nodeFails();
    panel.trying.set('s', { isFresh: false });
    look(false);
    expect(sockets).toHaveLength(1);
    expect(panel.attempts.at(-1)).toBe('s: declined');
    expect(condition()).toBe('stopped');
  });

  // If the end of the trial counted as the end of the socket, the node would stay blamed although
  // it works, and no other server would open a socket.
  it('a server that streams declines, and its socket doesn’t end', async () => {
    await start();
    expect(condition()).toBe('streaming');
    panel.trying.set('s', { isFresh: false });
    look();
    expect(panel.attempts).toEqual(['s: success', 's: declined']);
    expect(condition()).toBe('streaming');
  });
});

it('a streaming server whose renewal was refused asks again within a minute, on the same socket', async () => {
  await start();
  const grant = panel.answerCredentials;
  panel.answerCredentials = () => Promise.reject(new PanelError({ cause: 'not_found', detail: '404' }));
  await clock.advance(9 * MINUTE);
  expect(record.status).toMatchObject({ condition: 'streaming', problem: { cause: 'not_found' } });
  panel.answerCredentials = grant;
  await clock.advance(MINUTE);
  expect(record.status).toEqual({ condition: 'streaming' });
  expect(sockets).toHaveLength(1);
});

describe('a session that begins again', () => {
  const again = async () => {
    look(false);
    look();
    await clock.advance(10);
  };

  it('uses the token that it has, and none while the socket may not be opened any more', async () => {
    await start();
    await again();
    expect(condition()).toBe('streaming');
    addressProblem = { cause: 'socket_address_not_allowed', detail: 'not in socket_hosts' };
    await again();
    await clock.advance(POLL_CACHE_MS);
    expect(record.status).toMatchObject({ condition: 'polling', problem: addressProblem });
    expect(sockets).toHaveLength(2);
    addressProblem = undefined;
    await again();
    expect(condition()).toBe('streaming');
    expect(sockets.map(({ ended }) => ended)).toEqual(['closed', 'closed', undefined]);
    expect(tokens()).toBe(1);
  });
});

it('a socket is asked for stats 15 s after the last ones, however long ago it was asked', async () => {
  await start();
  const [socket] = sockets;
  if (socket === undefined) throw new Error('expected a socket');
  const sent = vi.spyOn(socket, 'send');
  for (let seconds = 0; seconds < 60; seconds += 10) {
    await clock.advance(10_000);
    socket.receive(STATS);
  }
  await clock.advance(14_000);
  expect(sent).not.toHaveBeenCalled();
  await clock.advance(2_000);
  expect(sent.mock.calls).toEqual([[{ event: 'send stats' }]]);
});

it('what follows a console line may wait a moment, and nothing else', async () => {
  await start();
  const waits = (event: string) => sockets[0]?.receive(JSON.stringify({ event, args: ['running'] }));
  expect(waits('console output')).toBe(true);
  expect(['status', 'stats', 'install output'].map(waits)).toEqual([false, false, false]);
});
