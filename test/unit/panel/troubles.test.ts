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

/** Three of them failed two minutes ago, when the fourth worked: by now, that no longer speaks for the node. */
async function threeFailed() {
  const world = fourServers();
  world.works('d');
  for (const server of ['a', 'b', 'c']) world.fails(server);
  await world.clock.advance(120_000);
  return world;
}

const inTrouble = ({ troubles }: ReturnType<typeof fourServers>) => [...troubles.state.troubles.keys()];

it('a first failure decides at once who is in trouble', () => {
  const world = fourServers();
  for (const server of ['a', 'b']) world.fails(server);
  expect(inTrouble(world)).toEqual([]);
  world.fails('c');
  expect(inTrouble(world)).toEqual([socketsOf('n1')]);
});

it('a failure for another cause decides it at once', async () => {
  const world = await threeFailed();
  expect(inTrouble(world)).toEqual([]);
  world.fails('a', 'node_error');
  expect(inTrouble(world)).toEqual([socketsOf('n1')]);
});

it('servers that fail again for the same cause decide it together, a quarter of a second later', async () => {
  const world = await threeFailed();
  const before = world.troubles.state;
  for (let times = 0; times < 100; times += 1) for (const server of ['a', 'b', 'c']) world.fails(server);
  await world.clock.advance(249);
  expect(world.troubles.state).toBe(before);
  await world.clock.advance(1);
  expect(inTrouble(world)).toEqual([socketsOf('n1')]);
});

it('nothing is decided after the end', async () => {
  const world = await threeFailed();
  world.fails('a');
  world.troubles.stop();
  await world.clock.advance(1_000);
  expect(inTrouble(world)).toEqual([]);
});
