import { afterEach, describe, expect, it } from 'vitest';
import { CAUSES } from '../../../src/diagnosis/causes.ts';
import type { SimulatorOptions } from '../../../src/simulator/simulator-interface.ts';
import { eventually } from '../../support/eventually.ts';
import { type ConsoleStage, startStage } from './console-stage.ts';

/** The speed of tests with minutes of silence. */
const FAST = 200;

let stage: ConsoleStage;

afterEach(() => stage.stop());

const start = async (options: SimulatorOptions = {}) => {
  stage = await startStage(options);
};

const frames = () =>
  stage.panel.record.frames
    .filter(({ event }) => event !== 'auth' && event !== 'send stats')
    .map(({ event, args, accepted }) => [event, args?.[0], accepted]);
const sockets = () => stage.panel.record.sockets(stage.panel.server('survival').uuid);
const sends = (event: string, ...args: readonly string[]) =>
  stage.panel.sockets({ kind: 'send', event, args: [...args] });

describe.each(['wings', 'elytra'] as const)('a console on Hydrodactyl, of a server on %s', (daemonType) => {
  it('finds the path of the server, although the configuration names no daemon', async () => {
    await start({
      panel: 'hydrodactyl',
      servers: [{ name: 'survival', profile: 'idle', consoleLinesPerSecond: 0, daemonType }],
    });
    const opened = await stage.open({ readsInput: true });
    await opened.shows('survival is running');
    opened.type(undefined);
    expect(await opened.outcome).toEqual({ code: 0 });
  });
});

it('a console on Calagopus shows the state and the lines, and sends commands and a power action', async () => {
  await start({
    panel: 'calagopus',
    servers: [{ name: 'survival', profile: 'idle', consoleLinesPerSecond: 3 }],
  });
  const opened = await stage.open({ logs: true, send: ['list'], power: 'restart' });
  expect(await opened.outcome).toEqual({ code: 0 });
  expect(opened.notes).toContain('survival is running');
  expect(opened.lines).toContain('> list');
  expect(frames()).toEqual([
    ['send logs', null, true],
    ['set state', 'restart', true],
    ['send command', 'list', true],
  ]);
});

describe('a console', () => {
  it('shows recent lines, sends commands in order at a pace that nodes accept, and ends when the output is quiet', async () => {
    await start({ servers: [{ name: 'survival', profile: 'idle', consoleLinesPerSecond: 3 }] });
    await eventually(() => expect(stage.panel.server('survival').usage.uptimeMs).toBeGreaterThan(0));
    const commands = Array.from({ length: 12 }, (_, i) => `say ${i}`);
    const opened = await stage.open({ logs: true, send: commands });
    expect(await opened.outcome).toEqual({ code: 0 });
    expect(frames()).toEqual([
      ['send logs', null, true],
      ...commands.map((command) => ['send command', command, true]),
    ]);
    expect(opened.lines.filter((line) => line.startsWith('> say'))).toEqual(
      commands.map((one) => `> ${one}`),
    );
    expect(opened.notes).toEqual(['connected to survival on panel main', 'survival is running']);
    expect(stage.panel.record.counters.wouldHaveCrashed).toBe(0);
    await eventually(() => expect(sockets()).toMatchObject({ open: 0, opened: 1, lastCloseCode: 1_000 }));
  });

  it('reads commands until the input ends, and waits for the output', async () => {
    await start();
    const opened = await stage.open({ readsInput: true });
    for (const line of ['list', '', '  ', 'save-all']) opened.type(line);
    await opened.shows('> save-all');
    opened.type(undefined);
    expect(await opened.outcome).toEqual({ code: 0 });
    expect(frames()).toEqual([
      ['send command', 'list', true],
      ['send command', 'save-all', true],
    ]);
  });

  it('shows messages of the node and changes of the state', async () => {
    await start();
    const opened = await stage.open({ readsInput: true });
    await opened.shows('survival is running');
    sends('daemon message', 'Checking the disk');
    sends('install output', 'fetching');
    sends('transfer logs', '10 %');
    sends('feature match', 'eula');
    await opened.shows('message from the node: Checking the disk');
    await opened.shows('fetching');
    await opened.shows('10 %');
    stage.panel.power('survival', 'stop');
    await opened.shows('survival is stopping');
    await opened.shows('survival is offline');
    expect(opened.notes.filter((note) => note === 'survival is stopping')).toHaveLength(1);
  });

  it('reconnects after a dropped connection, and warns that the last command may be lost', async () => {
    await start();
    const opened = await stage.open({ readsInput: true });
    await opened.shows('survival is running');
    opened.type('list');
    await opened.shows('> list');
    stage.panel.sockets({ kind: 'drop' });
    await opened.shows('not connected, retrying: socket closed (code 1006)');
    await opened.shows('the last command may not have taken effect');
    await opened.shows('reconnected');
    opened.type('save-all');
    await opened.shows('> save-all');
    opened.type(undefined);
    expect(await opened.outcome).toEqual({ code: 1 });
  });

  it('keeps commands while disconnected, and gives up on them after five minutes', async () => {
    await start();
    const opened = await stage.open({ readsInput: true });
    await opened.shows('survival is running');
    await stage.panel.stopListening();
    await opened.shows(/^not connected/);
    opened.type('list');
    stage.time.speed = FAST;
    const outcome = await opened.outcome;
    expect(outcome).toEqual({
      code: 1,
      error: '"list" was not sent: no connection for 5 minutes',
    });
  });

  it('gives up on commands as well if its only connection was lost before it looked at it', async () => {
    await start();
    stage.time.speed = 0.001;
    const opened = await stage.open({ readsInput: true });
    await opened.shows('survival is running');
    await stage.panel.stopListening();
    await opened.shows(/^not connected/);
    opened.type('list');
    stage.time.speed = FAST;
    expect(await opened.outcome).toEqual({
      code: 1,
      error: '"list" was not sent: no connection for 5 minutes',
    });
  });

  it("ends when its time is over, and reports the commands that weren't sent", async () => {
    await start();
    expect(await (await stage.open({ readsInput: true, for: 3_000 })).outcome).toEqual({ code: 0 });
    const many = await stage.open({ send: Array.from({ length: 60 }, () => 'list'), for: 3_000 });
    expect(await many.outcome).toEqual({ code: 1 });
    expect(many.notes).toContain('the time limit of --for was reached before everything was done');
  });

  it('ends if the server is deleted or suspended', async () => {
    await start({ servers: [{ name: 'survival' }] });
    const suspended = await stage.open({ readsInput: true });
    await suspended.shows('survival is running');
    stage.panel.sockets({ kind: 'close', code: 4409, reason: 'server is suspended' });
    expect(await suspended.outcome).toEqual({
      code: 1,
      error: `survival: socket closed (code 4409): "server is suspended". ${CAUSES.suspended.remedy}`,
    });
    const deleted = await stage.open({ readsInput: true });
    await deleted.shows('survival is running');
    stage.panel.deleteServer('survival');
    expect(await deleted.outcome).toEqual({ code: 1, error: 'survival: the server was deleted' });
  });
});

describe('an interactive console', () => {
  it("reports commands that aren't sent, and continues", async () => {
    await start();
    const opened = await stage.open({ interactive: true, readsInput: true });
    await opened.shows('survival is running');
    opened.type('x'.repeat(5_000));
    await opened.shows(
      /^"x+…" was not sent: expected a "send command" frame of at most 4095 bytes, got \d+$/,
    );
    await stage.panel.stopListening();
    await opened.shows(/^not connected/);
    opened.type('list');
    await opened.shows('"list" was not sent: not connected');
    await stage.panel.startListening();
    await opened.shows('reconnected');
    stage.panel.power('survival', 'kill');
    await opened.shows('survival is offline');
    opened.type('list');
    await opened.shows('"list" was not sent: the server is offline');
    opened.type(undefined);
    expect(await opened.outcome).toEqual({ code: 0 });
    expect(frames()).toEqual([]);
  });
});

describe('a power action', () => {
  it.each([
    ['stop', 'running', ['stopping', 'offline']],
    ['kill', 'running', ['offline']],
    ['start', 'offline', ['starting', 'running']],
    ['restart', 'running', ['stopping', 'starting', 'running']],
    ['restart', 'offline', ['running']],
  ] as const)('%s is awaited if the server is %s', async (action, from, states) => {
    await start({ servers: [{ name: 'survival', profile: from === 'offline' ? 'offline' : 'idle' }] });
    const opened = await stage.open({ power: action });
    expect(await opened.outcome).toEqual({ code: 0 });
    const notes = states.map((state) => `survival is ${state}`);
    expect(opened.notes).toEqual(expect.arrayContaining([`${action} requested`, ...notes]));
    expect(opened.notes.at(-1)).toBe(`${action} completed: ${notes.at(-1)}`);
    expect(frames()).toEqual([['set state', action, true]]);
  });

  it("isn't sent if the server already has the requested state", async () => {
    await start();
    const opened = await stage.open({ power: 'start' });
    expect(await opened.outcome).toEqual({ code: 0 });
    expect(opened.notes).toContain('start not needed: survival is running');
    expect(frames()).toEqual([]);
  });

  it("isn't sent again if it is already in progress, and is awaited", async () => {
    await start({ stopMs: 30_000 });
    stage.panel.power('survival', 'stop');
    const opened = await stage.open({ power: 'stop' });
    expect(await opened.outcome).toEqual({ code: 0 });
    expect(opened.notes.at(-1)).toBe('stop completed: survival is offline');
    expect(frames()).toEqual([]);
  });

  it('is sent before the commands', async () => {
    await start({ servers: [{ name: 'survival', profile: 'offline', consoleLinesPerSecond: 0 }] });
    const opened = await stage.open({ power: 'start', send: ['say hi'] });
    expect(await opened.outcome).toEqual({ code: 0 });
    expect(opened.lines).toContain('> say hi');
  });

  it('is still awaited after a lost connection', async () => {
    await start({ stopMs: 30_000 });
    const opened = await stage.open({ power: 'stop' });
    await opened.shows('survival is stopping');
    stage.panel.sockets({ kind: 'drop' });
    expect(await opened.outcome).toEqual({ code: 0 });
    expect(opened.notes).toContain('reconnected');
    expect(frames()).toHaveLength(1);
  });

  it("fails if it isn't done within five minutes", async () => {
    await start({ stopMs: 3_600_000 });
    stage.time.speed = FAST;
    expect(await (await stage.open({ power: 'stop' })).outcome).toEqual({
      code: 1,
      error: 'stop not completed after 5 minutes: survival is stopping',
    });
  });

  it('fails at once if the node refuses it', async () => {
    await start({ stopMs: 3_600_000 });
    const opened = await stage.open({ power: 'stop' });
    await opened.shows('stop requested');
    await opened.shows('survival is stopping');
    sends('daemon error', 'another power action is being processed');
    expect(await opened.outcome).toEqual({ code: 1, error: 'stop failed: survival is stopping' });
    expect(opened.notes).toContain('error from the node: another power action is being processed');
  });
});

describe('a request of the console', () => {
  it('is rejected if it is a command to a server that is off', async () => {
    await start({ servers: [{ name: 'survival', profile: 'offline' }] });
    const opened = await stage.open({ send: ['list'] });
    expect(await opened.outcome).toEqual({ code: 1 });
    expect(opened.notes).toContain('"list" was not sent: the server is offline');
    expect(frames()).toEqual([]);
  });

  it.each([
    [
      'a command',
      { send: ['list'] },
      { code: 1 },
      ['"list" was not sent: the key\'s account lacks the permission control.console for this server'],
    ],
    [
      'a power action',
      { power: 'kill' },
      { code: 1, error: "the key's account lacks the permission control.stop for this server" },
      [],
    ],
  ] as const)(
    'is rejected if it is %s that the account may not send, and the permission is named',
    async (_what, plan, outcome, notes) => {
      await start({ tokenPermissions: ['websocket.connect'] });
      const opened = await stage.open(plan);
      expect(await opened.outcome).toEqual(outcome);
      expect(opened.notes).toEqual(expect.arrayContaining([...notes]));
      expect(frames()).toEqual([]);
    },
  );

  it('is reported if the node drops it because there were too many', async () => {
    await start();
    const opened = await stage.open({ readsInput: true });
    opened.type('list');
    await opened.shows('> list');
    sends('throttled', 'set state');
    opened.type(undefined);
    expect(await opened.outcome).toEqual({ code: 1 });
    expect(opened.notes).toContain('the node dropped a "set state" message: too many messages at once');
  });
});

it("a console that can't be opened ends with an error, what to do, and where the key is from", async () => {
  await start();
  stage.panel.revokeKey(stage.panel.apiKey);
  const { outcome: ended } = await stage.open({ send: ['list'] });
  const { code, error } = await ended;
  expect(code).toBe(1);
  expect(error).toContain(CAUSES.key_refused.remedy);
  expect(error).toMatch(/ The API key is from a test\.$/);
  expect(error).not.toContain(stage.panel.apiKey);
});

describe('the output of a hostile server', () => {
  it('never shows the key or a token, even if the server sends them', async () => {
    await start();
    const opened = await stage.open({ readsInput: true });
    await opened.shows('survival is running');
    sends('console output', `the key is ${stage.panel.apiKey}!`);
    sends('daemon message', `the key is ${stage.panel.apiKey}!`);
    await opened.shows('the key is <secret>!');
    await opened.shows('message from the node: the key is <secret>!');
    stage.panel.sockets({ kind: 'raw', text: 'not a frame' });
    stage.panel.sockets({ kind: 'binary', base64: 'AAAA' });
    stage.panel.sockets({ kind: 'garbage' });
    sends('console output', 'still here');
    await opened.shows('still here');
    expect([...opened.lines, ...opened.notes].join('\n')).not.toContain(stage.panel.apiKey);
  });
});
