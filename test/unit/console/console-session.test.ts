import { afterEach, describe, expect, it } from 'vitest';
import { ConsoleSession } from '../../../src/console/console-session.ts';
import { PanelError } from '../../../src/panel/panel-error.ts';
import { consoleNode, type NodeSetup } from '../../support/console-node.ts';
import { deferred } from '../../support/deferred.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const opened: ConsoleSession[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((session) => session.stop()));
});

async function open(setup: NodeSetup = {}) {
  const clock = new ManualClock();
  const { access, sockets } = consoleNode(clock, setup);
  const states: string[] = [];
  const messages: string[] = [];
  let changes = 0;
  const session = new ConsoleSession(access, {
    changed: () => void (changes += 1),
    stateSeen: (state) => void states.push(state),
    messageReceived: ({ event }) => void messages.push(event),
  });
  opened.push(session);
  session.start();
  await clock.advance(200);
  return { clock, session, sockets, states, messages, changes: () => changes };
}

describe('a session', () => {
  it('connects, and reports each message and state of the server', async () => {
    const { session, sockets, states, messages, clock } = await open();
    expect([session.isConnected, session.isReady, session.problem]).toEqual([true, true, undefined]);
    expect(states).toContain('running');
    sockets[0]?.becomes('stopping');
    sockets[0]?.receives('console output', 'a line');
    await clock.advance(0);
    expect(states.at(-1)).toBe('stopping');
    expect(messages).toEqual(expect.arrayContaining(['auth success', 'status', 'console output']));
  });

  it('sends messages over its socket', async () => {
    const { session, sockets } = await open();
    session.send({ event: 'send logs' });
    expect(sockets[0]?.sent).toEqual([{ event: 'send logs' }]);
  });

  it('reconnects by itself, and has a problem until then', async () => {
    const { session, sockets, clock, changes } = await open();
    const before = changes();
    sockets[0]?.drops();
    await clock.advance(0);
    expect([session.isConnected, session.isReady, session.isBlocked]).toEqual([false, false, false]);
    expect(session.problem?.detail).toMatch(/socket closed/);
    await clock.advance(10_000);
    expect([session.isConnected, session.problem, sockets.length]).toEqual([true, undefined, 2]);
    expect(changes()).toBeGreaterThan(before);
  });

  it('is blocked by a refusal that lasts', async () => {
    const refusal = new PanelError({ cause: 'forbidden', detail: 'no' });
    const { session, sockets } = await open({ refusal });
    expect([session.isBlocked, session.isConnected, sockets]).toEqual([true, false, []]);
    expect(session.problem).toMatchObject({ cause: 'forbidden' });
  });

  it('ends only when its socket is closed', async () => {
    const { session, sockets, clock } = await open();
    const closed = deferred<void>();
    const [socket] = sockets;
    if (socket === undefined) throw new Error('expected a socket');
    socket.closed = closed.promise;
    let hasEnded = false;
    const ending = session.stop().then(() => (hasEnded = true));
    await clock.advance(1_000);
    expect([socket.isOpen, hasEnded]).toEqual([false, false]);
    closed.resolve();
    expect(await ending).toBe(true);
  });
});

it.each<[readonly string[], string, boolean]>([
  [['*'], 'control.stop', false],
  [['control.stop'], 'control.stop', false],
  [['websocket.connect'], 'control.stop', true],
  [[], 'control.stop', true],
])('a token with %j lacks %s: %s', async (permissions, permission, lacks) => {
  const { session } = await open({ permissions });
  expect(session.lacks(permission)).toBe(lacks);
});
