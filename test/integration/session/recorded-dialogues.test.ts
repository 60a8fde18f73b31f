import { expect, it } from 'vitest';
import type { CollectionStatus } from '../../../src/domain/snapshot.ts';
import { NO_STOPS, type StopCounts } from '../../../src/domain/stops.ts';
import { PanelSurroundings } from '../../../src/fleet/panel-surroundings.ts';
import { ServerRecord } from '../../../src/fleet/server-record.ts';
import { sessionLog } from '../../../src/fleet/session-log.ts';
import { CALAGOPUS_SOCKET } from '../../../src/panel/dialects/calagopus/socket-refusals.ts';
import type { ClientMessage, SocketCodec } from '../../../src/panel/socket-codec.ts';
import { Session } from '../../../src/session/session.ts';
import type { SocketListener } from '../../../src/session/socket.ts';
import { FakeGateway, SETTINGS, socketsOpenedBy } from '../../support/fleet-bench.ts';
import { collectingLogger } from '../../support/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { type RecordedEvent, recordedDialogue } from '../../support/recorded-dialogues.ts';
import { target } from '../../support/targets.ts';

/**
 * The longest pause between events. Longer ones were caused by the busy machine that recorded the
 * dialogues.
 */
const LONGEST_PAUSE_MS = 5_000;

/** The visible data of a server during a dialogue. */
interface Result {
  /** The states in the order in which they were visible. */
  readonly states: readonly string[];
  readonly starts: number;
  readonly stops: Partial<StopCounts>;
  readonly exitCode?: number;
  /** The last values. */
  readonly memoryBytes: number;
  readonly receivedBytes: number;
  /** The number of token requests. */
  readonly tokens?: number;
}

const CALAGOPUS = 'calagopus-wings-0.22.12';

const DIALOGUES: readonly (readonly [name: string, SocketCodec, Result])[] = [
  [
    `${CALAGOPUS}/start`,
    CALAGOPUS_SOCKET,
    {
      states: ['offline', 'starting', 'running'],
      starts: 1,
      stops: {},
      memoryBytes: 32_325_632,
      receivedBytes: 5_432,
    },
  ],
  [
    `${CALAGOPUS}/requested-stop`,
    CALAGOPUS_SOCKET,
    {
      states: ['running', 'stopping', 'offline'],
      starts: 0,
      stops: { requested: 1 },
      memoryBytes: 352_256,
      receivedBytes: 41_714,
    },
  ],
  [
    `${CALAGOPUS}/restart`,
    CALAGOPUS_SOCKET,
    {
      states: ['running', 'stopping', 'offline', 'starting', 'running'],
      starts: 1,
      stops: { requested: 1 },
      memoryBytes: 11_120_640,
      receivedBytes: 2_190,
    },
  ],
  [
    `${CALAGOPUS}/restart-on-a-busy-node`,
    CALAGOPUS_SOCKET,
    {
      states: ['running', 'stopping', 'offline', 'starting', 'running'],
      starts: 1,
      stops: { requested: 1 },
      memoryBytes: 11_108_352,
      receivedBytes: 2_576,
    },
  ],
  [
    // This daemon sends nothing about a requested kill.
    `${CALAGOPUS}/kill`,
    CALAGOPUS_SOCKET,
    {
      states: ['running', 'offline'],
      starts: 0,
      stops: { unknown: 1 },
      memoryBytes: 10_936_320,
      receivedBytes: 8_944,
    },
  ],
  [
    `${CALAGOPUS}/crash`,
    CALAGOPUS_SOCKET,
    {
      states: ['running', 'offline', 'starting', 'running'],
      starts: 1,
      stops: { crashed: 1 },
      exitCode: 7,
      memoryBytes: 63_377_408,
      receivedBytes: 4_772,
    },
  ],
  [
    `${CALAGOPUS}/out-of-memory`,
    CALAGOPUS_SOCKET,
    {
      states: ['running', 'offline', 'starting', 'running'],
      starts: 1,
      stops: { out_of_memory: 1 },
      exitCode: 137,
      memoryBytes: 105_463_808,
      receivedBytes: 6_064,
    },
  ],
  [
    `${CALAGOPUS}/token-expiry`,
    CALAGOPUS_SOCKET,
    {
      states: ['running'],
      starts: 0,
      stops: {},
      memoryBytes: 10_858_496,
      receivedBytes: 1_734,
      // At the start, after `token expiring`, and after `token expired`.
      tokens: 3,
    },
  ],
];

/** A socket that replays a recording. After the recorded frames, it accepts tokens at once. */
class RecordedSocket {
  readonly #listener: SocketListener;
  #auths = 0;
  /** How often the session closed the socket. */
  closes = 0;

  constructor(listener: SocketListener) {
    this.#listener = listener;
  }

  happens({ what }: RecordedEvent): void {
    if (what === 'open') this.#listener.opened();
    else if (what !== 'ping') this.#receive(what.frame);
  }

  send({ event }: ClientMessage): void {
    if (event !== 'auth') return;
    this.#auths += 1;
    // The response to the first authentication is in the recording.
    if (this.#auths > 1) queueMicrotask(() => this.#receive('{"event":"auth success","args":[]}'));
  }

  close(): Promise<void> {
    this.closes += 1;
    return Promise.resolve();
  }

  #receive(frame: string): void {
    this.#listener.message(Buffer.from(frame), false);
  }
}

async function play(events: readonly RecordedEvent[], codec: SocketCodec) {
  const clock = new ManualClock();
  const panel = new FakeGateway();
  const sockets: RecordedSocket[] = [];
  const known = new PanelSurroundings({ clock, gateway: panel });
  const surroundings = (isRunning: boolean) => known.of(record, { isRunning, hasRoom: true, ...SETTINGS });
  const record = new ServerRecord(target({ id: 's', node: 'n1' }), { socket: 60_000, poll: 60_000 });
  const access = socketsOpenedBy((_url, listener) => {
    const socket = new RecordedSocket(listener);
    sockets.push(socket);
    return socket;
  });
  const session = new Session(
    {
      clock,
      log: sessionLog(collectingLogger()),
      random: () => 0.5,
      panel,
      telemetry: {},
      settings: SETTINGS,
      surroundings: (_record, isRunning) => surroundings(isRunning),
      sockets: { ...access, codec },
    },
    record,
  );
  session.sees(surroundings(true));
  const shown = () => record.snapshot(clock.now(), clock);
  const states: string[] = [];
  const conditions = new Set<CollectionStatus['condition']>();
  let before = 0;
  for (const event of events) {
    await clock.advance(Math.min(event.atMs - before, LONGEST_PAUSE_MS));
    before = event.atMs;
    sockets[0]?.happens(event);
    await clock.advance(0);
    record.decideStop(clock.now());
    const { state, collection_streaming: isStreaming } = shown();
    if (state !== 'unknown' && state !== states.at(-1)) states.push(state);
    if (isStreaming === 1 || conditions.size > 0) conditions.add(record.status.condition);
  }
  const result = { ...shown() };
  session.sees(surroundings(false));
  await session.closing;
  return { result, states, conditions, sockets, tokens: panel.asked('credentials').length };
}

it.each(DIALOGUES)('the streamer makes of %s what happened', async (name, codec, expected) => {
  const { result, states, conditions, sockets, tokens } = await play(recordedDialogue(name), codec);
  expect({
    states,
    starts: result.starts_total,
    stops: result.stops,
    exitCode: result.last_exit_code,
    memoryBytes: result.memory_usage_bytes,
    receivedBytes: result.network_receive_bytes_total,
    tokens,
  }).toEqual({ exitCode: undefined, tokens: 1, ...expected, stops: { ...NO_STOPS, ...expected.stops } });
  // The session streamed all the time, on one socket.
  expect([...conditions]).toEqual(['streaming']);
  expect(sockets.length).toBe(1);
});
