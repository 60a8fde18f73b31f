import { PassThrough } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { type ConsolePlan, ConsoleRun } from '../../../src/console/console-run.ts';
import { Screen } from '../../../src/console/screen.ts';
import type { PanelApi } from '../../../src/panel/panel-api.ts';
import { PanelError } from '../../../src/panel/panel-error.ts';
import type { ClientMessage } from '../../../src/panel/socket-codec.ts';
import type { SocketListener } from '../../../src/session/socket.ts';
import { deferred } from '../../support/deferred.ts';
import { SETTINGS, STATS, socketsOpenedBy } from '../../support/fleet-bench.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { target } from '../../support/targets.ts';

/** A token that lists these permissions. */
const tokenWith = (...permissions: readonly string[]) =>
  ['e30', Buffer.from(JSON.stringify({ permissions })).toString('base64url'), 'x'].join('.');

/** The console socket of a node; it accepts every token, and sends the server's state after it. */
class NodeSocket {
  readonly sent: ClientMessage[] = [];
  isOpen = true;
  /** Resolves once the far end has closed the socket. */
  closed = Promise.resolve();
  readonly #listener: SocketListener;
  #state: string;

  constructor(listener: SocketListener, state: string) {
    this.#listener = listener;
    this.#state = state;
    queueMicrotask(() => this.#listener.opened());
  }

  send(message: ClientMessage): void {
    if (message.event === 'send stats') this.#sends(STATS.replace('running', this.#state));
    else if (message.event === 'auth') {
      this.receives('auth success');
      this.receives('status', this.#state);
    } else this.sent.push(message);
  }

  /** The server's state changes. */
  becomes(state: string): void {
    this.#state = state;
    this.receives('status', state);
  }

  receives(event: string, ...args: readonly string[]): void {
    this.#sends(JSON.stringify({ event, args }));
  }

  drops(): void {
    this.isOpen = false;
    this.#listener.closed({ code: 1006, text: '', oversize: false });
  }

  close(): Promise<void> {
    this.isOpen = false;
    return this.closed;
  }

  #sends(frame: string): void {
    queueMicrotask(() => {
      if (this.isOpen) this.#listener.message(Buffer.from(frame), false);
    });
  }
}

interface Setup extends Partial<ConsolePlan> {
  readonly state?: string;
  readonly permissions?: readonly string[];
  readonly readsInput?: boolean;
  readonly refusal?: PanelError;
}

const runs: ConsoleRun[] = [];

afterEach(() => {
  for (const run of runs.splice(0)) run.end();
});

/** The lines of a stream. */
function outputLines(stream: PassThrough): readonly string[] {
  const lines: string[] = [];
  stream.setEncoding('utf8').on('data', (text: string) => lines.push(...text.slice(0, -1).split('\n')));
  return lines;
}

/** A run of the console that has connected, unless the panel refuses that. */
async function open({ state = 'running', permissions = ['*'], readsInput, refusal, ...plan }: Setup) {
  const clock = new ManualClock();
  const sockets: NodeSocket[] = [];
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const credentials = { token: tokenWith(...permissions), socketUrl: 'wss://node/ws', lifetimeMs: 600_000 };
  const get = () =>
    refusal === undefined ? Promise.resolve({ value: credentials }) : Promise.reject(refusal);
  const run = new ConsoleRun(
    { interactive: false, ...plan },
    {
      api: { get } as unknown as Pick<PanelApi, 'get'>,
      sockets: socketsOpenedBy((_url, listener) => {
        const socket = new NodeSocket(listener, state);
        sockets.push(socket);
        return socket;
      }),
      target: target(),
      keySource: 'a test',
      settings: SETTINGS,
      screen: new Screen({
        stdin: readsInput === true ? stdin : undefined,
        stdout,
        stderr,
        color: false,
        onInterrupt: () => undefined,
      }),
      clock,
      random: () => 0.5,
    },
  );
  runs.push(run);
  const [lines, shown] = [outputLines(stdout), outputLines(stderr)];
  let outcome: Awaited<ReturnType<ConsoleRun['run']>> | undefined;
  const ended = run.run().then((result) => {
    outcome = result;
    return result;
  });
  await clock.advance(200);
  return {
    clock,
    run,
    lines,
    ended,
    get outcome() {
      return outcome;
    },
    get notes() {
      return shown.map((note) => note.replace(/^-- /, ''));
    },
    get socket() {
      const socket = sockets.at(-1);
      if (socket === undefined) throw new Error('expected a socket');
      return socket;
    },
    get sent() {
      return sockets
        .flatMap(({ sent }) => sent)
        .map(({ event, ...more }) => [event, ...Object.values(more)].join(' '));
    },
    type: (...typed: readonly string[]) => void stdin.write(typed.map((line) => `${line}\n`).join('')),
    endInput: () => void stdin.end(),
  };
}

const CONNECTED = 'connected to survival on panel main';

describe('a plan', () => {
  it('is executed in its order: recent lines, power, then commands no faster than nodes accept', async () => {
    const console = await open({ logs: true, power: 'restart', send: ['say 1', 'say 2'] });
    expect(console.sent).toEqual(['send logs', 'set state restart']);
    for (const state of ['stopping', 'starting', 'running']) console.socket.becomes(state);
    await console.clock.advance(100);
    expect(console.sent.slice(2)).toEqual(['send command say 1']);
    await console.clock.advance(949);
    expect(console.sent).toHaveLength(3);
    await console.clock.advance(150);
    expect(console.sent.slice(3)).toEqual(['send command say 2']);
  });

  it('ends two seconds after the last line', async () => {
    const console = await open({ send: ['list'] });
    await console.clock.advance(1_500);
    console.socket.receives('console output', 'three players');
    await console.clock.advance(1_900);
    expect(console.outcome).toBeUndefined();
    await console.clock.advance(200);
    expect(console.outcome).toEqual({ code: 0 });
    expect(console.lines).toEqual(['three players']);
    expect(console.socket.isOpen).toBe(false);
  });

  it('ends after ten seconds, although lines continue', async () => {
    const console = await open({ send: ['list'] });
    for (let second = 0; second < 11; second += 1) {
      console.socket.receives('console output', 'more');
      await console.clock.advance(1_000);
    }
    expect(console.outcome).toEqual({ code: 0 });
  });

  it('ends with its time limit, and fails if something is left to do', async () => {
    const done = await open({ send: ['list'], for: 5_000 });
    await done.clock.advance(4_500);
    expect(done.outcome).toBeUndefined();
    await done.clock.advance(500);
    expect(done.outcome).toEqual({ code: 0 });
    const undone = await open({ power: 'stop', for: 5_000 });
    await undone.clock.advance(5_000);
    expect(undone.outcome).toEqual({ code: 1 });
    expect(undone.notes).toContain('the time limit of --for was reached before everything was done');
  });

  it('ends only when its socket is closed', async () => {
    const console = await open({ readsInput: true });
    const closed = deferred<void>();
    console.socket.closed = closed.promise;
    console.run.end();
    await console.clock.advance(500);
    expect([console.socket.isOpen, console.outcome]).toEqual([false, undefined]);
    closed.resolve();
    expect(await console.ended).toEqual({ code: 0 });
  });

  it('ends when a person ends it, with the error', async () => {
    const console = await open({ readsInput: true });
    console.run.end();
    expect(await console.ended).toEqual({ code: 0 });
    const failing = await open({ readsInput: true });
    failing.run.end('the input failed');
    expect(await failing.ended).toEqual({ code: 1, error: 'the input failed' });
  });
});

describe('commands', () => {
  it('are read until the input ends, without empty lines', async () => {
    const console = await open({ readsInput: true });
    console.type('list', '', '  ', 'save-all');
    await console.clock.advance(2_000);
    expect(console.sent).toEqual(['send command list', 'send command save-all']);
    expect(console.outcome).toBeUndefined();
    console.endInput();
    await console.clock.advance(3_000);
    expect(console.outcome).toEqual({ code: 0 });
  });

  it.each<[string, Setup, string]>([
    ['if the server is off', { state: 'offline' }, 'the server is offline'],
    [
      'without the permission',
      { permissions: ['websocket.connect'] },
      "the key's account lacks the permission control.console for this server",
    ],
  ])('are not sent %s, and fail', async (_what, setup, problem) => {
    const console = await open({ send: ['list'], ...setup });
    await console.clock.advance(11_000);
    expect(console.notes).toContain(`"list" was not sent: ${problem}`);
    expect(console.sent).toEqual([]);
    expect(console.outcome).toEqual({ code: 1 });
  });

  it('are sent with their permission among those of the token', async () => {
    const console = await open({ send: ['list'], permissions: ['websocket.connect', 'control.console'] });
    expect(console.sent).toEqual(['send command list']);
  });

  it('wait five minutes for a lost connection to come back', async () => {
    const console = await open({ readsInput: true });
    console.socket.drops();
    await console.clock.advance(10_000);
    expect(console.notes).toEqual([
      CONNECTED,
      'survival is running',
      expect.stringMatching(/^not connected, retrying: socket closed/),
      'reconnected',
    ]);
    console.type('list');
    await console.clock.advance(100);
    expect(console.sent).toEqual(['send command list']);
  });

  it('may be lost with the connection, which is a failure', async () => {
    const console = await open({ readsInput: true });
    console.type('list');
    await console.clock.advance(100);
    console.socket.drops();
    await console.clock.advance(10_000);
    expect(console.notes).toContain('the last command may not have taken effect');
    console.endInput();
    await console.clock.advance(11_000);
    expect(console.outcome).toEqual({ code: 1 });
  });

  it('of a person are refused at once without a connection, and fail nothing', async () => {
    const console = await open({ readsInput: true, interactive: true });
    console.socket.drops();
    console.type('list');
    await console.clock.advance(0);
    expect(console.notes).toContain('"list" was not sent: not connected');
    console.endInput();
    await console.clock.advance(100);
    expect(console.outcome).toEqual({ code: 0 });
  });
});

describe('a power action', () => {
  it.each<[ConsolePlan['power'], string, readonly string[]]>([
    ['start', 'offline', ['starting', 'running']],
    ['stop', 'running', ['stopping', 'offline']],
    ['kill', 'running', ['offline']],
    ['restart', 'running', ['stopping', 'offline', 'starting', 'running']],
    ['restart', 'offline', ['running']],
  ])(
    '%s of a server that is %s is complete with the last of these states: %j',
    async (power, state, states) => {
      const console = await open({ power, state });
      expect(console.sent).toEqual([`set state ${power}`]);
      expect(console.notes).toContain(`${power} requested`);
      for (const next of states) {
        expect(console.outcome).toBeUndefined();
        console.socket.becomes(next);
        await console.clock.advance(50);
      }
      expect(console.outcome).toEqual({ code: 0 });
      expect(console.notes.at(-1)).toBe(`${power} completed: survival is ${states.at(-1)}`);
    },
  );

  it('is not needed if the server has that state, and not sent again if it is under way', async () => {
    const done = await open({ power: 'start' });
    expect(done.notes.at(-1)).toBe('start not needed: survival is running');
    expect([done.sent, done.outcome]).toEqual([[], { code: 0 }]);
    const underway = await open({ power: 'stop', state: 'stopping' });
    expect(underway.sent).toEqual([]);
    underway.socket.becomes('offline');
    await underway.clock.advance(100);
    expect(underway.outcome).toEqual({ code: 0 });
  });

  it.each<[string, string]>([
    ['kill', 'control.stop'],
    ['restart', 'control.restart'],
  ])('%s requires the permission %s', async (power, permission) => {
    const console = await open({
      power: power as 'kill' | 'restart',
      permissions: ['websocket.connect', 'control.start'],
    });
    expect(console.sent).toEqual([]);
    expect(console.outcome).toEqual({
      code: 1,
      error: `the key's account lacks the permission ${permission} for this server`,
    });
  });

  it('fails if the node refuses it', async () => {
    const console = await open({ power: 'stop' });
    console.socket.receives('daemon error', 'another power action is being processed');
    await console.clock.advance(100);
    expect(console.outcome).toEqual({ code: 1, error: 'stop failed: survival is running' });
    expect(console.notes).toContain('error from the node: another power action is being processed');
  });

  it('fails after five minutes', async () => {
    const console = await open({ power: 'stop' });
    console.socket.becomes('stopping');
    await console.clock.advance(299_000);
    expect(console.outcome).toBeUndefined();
    await console.clock.advance(1_000);
    const error = 'stop not completed after 5 minutes: survival is stopping';
    expect(console.outcome).toEqual({ code: 1, error });
  });
});

describe('a message of the node', () => {
  it.each<[string, string, string[]]>([
    ['console output', 'a line', ['a line']],
    ['install output', 'fetching', ['fetching']],
    ['transfer logs', '10 %', ['10 %']],
  ])('%s is output', async (event, text, lines) => {
    const console = await open({ readsInput: true });
    console.socket.receives(event, text);
    await console.clock.advance(0);
    expect(console.lines).toEqual(lines);
  });

  it('that is none for people is not shown, and a state is shown once', async () => {
    const console = await open({ readsInput: true });
    console.socket.receives('feature match', 'eula');
    console.socket.becomes('running');
    console.socket.receives('daemon message', 'Checking the disk');
    await console.clock.advance(0);
    expect(console.notes).toEqual([
      CONNECTED,
      'survival is running',
      'message from the node: Checking the disk',
    ]);
    expect(console.lines).toEqual([]);
  });

  it('ends the run if the server was deleted', async () => {
    const console = await open({ readsInput: true });
    console.socket.receives('deleted');
    await console.clock.advance(0);
    expect(console.outcome).toEqual({ code: 1, error: 'survival: the server was deleted' });
  });

  it('about a dropped message is a failure', async () => {
    const console = await open({ send: ['list'] });
    console.socket.receives('throttled', 'send command');
    await console.clock.advance(11_000);
    expect(console.notes).toContain('the node dropped a "send command" message: too many messages at once');
    expect(console.outcome).toEqual({ code: 1 });
  });
});

it('a first connection that fails ends the run, with the problem and the source of the key', async () => {
  const refusal = new PanelError({ cause: 'key_refused', detail: 'Unauthenticated.' });
  const { outcome } = await open({ send: ['list'], refusal });
  expect(outcome?.code).toBe(1);
  expect(outcome?.error).toMatch(/^survival: .*The API key is from a test\.$/);
});
