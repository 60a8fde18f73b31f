import { expect, it } from 'vitest';
import { socketsOf } from '../../../src/panel/blame.ts';
import { Troubles } from '../../../src/panel/troubles.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const SERVERS = ['a', 'b', 'c', 'd'];

/** What a socket shows of its node. */
const shows = (node: 'works' | 'fails') => ({ panel: undefined, path: undefined, console: undefined, node });

/** A node with four servers, of which none has done anything yet. */
function fourServers() {
  const clock = new ManualClock();
  const troubles = new Troubles({
    clock,
    random: () => 0,
    lane: { bringForward: () => {}, hasTokenRoom: () => true, hasTrialRoom: true, pump: () => {} },
    call: () => new Promise(() => {}),
    onSocketTrial: () => {},
    onChange: () => {},
  });
  const asked = new Map(SERVERS.map((server) => [server, { node: 'n1' }]));
  const none = new Map();
  troubles.setUse({
    listing: 'none',
    asked: { websocket: asked, resources: asked, backups: none, schedules: none },
  });
  return {
    clock,
    troubles,
    works: (server: string) =>
      troubles.socketEnded(server, { startedAt: clock.now(), problem: undefined, signs: shows('works') }),
    fails: (server: string, cause: 'node_connection' | 'node_error' = 'node_connection') =>
      troubles.socketEnded(server, {
        startedAt: clock.now(),
        problem: { cause, detail: 'no connection' },
        signs: shows('fails'),
      }),
  };
}

it('a first failure, or one for another cause, decides at once who is in trouble', () => {
  const { troubles, fails } = fourServers();
  for (const server of ['a', 'b']) fails(server);
  expect([...troubles.state.troubles.keys()]).toEqual([]);
  fails('c');
  expect([...troubles.state.troubles.keys()]).toEqual([socketsOf('n1')]);
});

it('servers that fail again for the same cause decide it together, a quarter of a second later', async () => {
  const { clock, troubles, works, fails } = fourServers();
  works('d');
  for (const server of ['a', 'b', 'c']) fails(server);
  await clock.advance(120_000);
  // By now, the success no longer speaks for the node.
  const before = troubles.state;
  for (let times = 0; times < 100; times += 1) for (const server of ['a', 'b', 'c']) fails(server);
  expect(troubles.state).toBe(before);
  await clock.advance(249);
  expect(troubles.state).toBe(before);
  await clock.advance(1);
  expect([...troubles.state.troubles.keys()]).toEqual([socketsOf('n1')]);
});

it('nothing is decided after the end', async () => {
  const { clock, troubles, works, fails } = fourServers();
  works('d');
  for (const server of ['a', 'b', 'c']) fails(server);
  await clock.advance(120_000);
  fails('a');
  troubles.stop();
  await clock.advance(1_000);
  expect(troubles.state.troubles.size).toBe(0);
});
