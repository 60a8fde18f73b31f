import { afterEach, describe, expect, it } from 'vitest';
import { type ConsolePlan, ConsoleRun } from '../../../src/console/console-run.ts';
import { PanelError } from '../../../src/panel/panel-error.ts';
import { consoleNode, type NodeSetup } from '../../support/console-node.ts';
import { testScreen } from '../../support/console-screen.ts';
import { deferred } from '../../support/deferred.ts';
import { ManualClock } from '../../support/manual-clock.ts';

interface Setup extends Partial<ConsolePlan>, NodeSetup {
  readonly readsInput?: boolean;
}

const runs: ConsoleRun[] = [];

afterEach(() => {
  for (const run of runs.splice(0)) run.end();
});

/** Starts a console, and waits until it has connected or the panel has rejected that. */
async function open({ state, permissions, refusal, readsInput, ...plan }: Setup) {
  const clock = new ManualClock();
  const { access, sockets } = consoleNode(clock, { state, permissions, refusal });
  const person = testScreen({ readsInput });
  const run = new ConsoleRun(
    { interactive: false, ...plan },
    { ...access, keySource: 'a test', screen: person.screen },
  );
  runs.push(run);
  let outcome: Awaited<ReturnType<ConsoleRun['run']>> | undefined;
  const ended = run.run().then((result) => {
    outcome = result;
    return result;
  });
  await clock.advance(200);
  return {
    clock,
    run,
    lines: person.lines,
    ended,
    get outcome() {
      return outcome;
    },
    get notes() {
      return person.notes;
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
    type: person.type,
    endInput: person.endInput,
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
