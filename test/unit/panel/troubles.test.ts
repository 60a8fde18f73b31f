import { expect, it } from 'vitest';
import { socketsOf } from '../../../src/panel/blame.ts';
import { Troubles } from '../../../src/panel/troubles.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const SERVERS = ['a', 'b', 'c', 'd'];

/** A node with four servers, of which none has done anything yet; a decision takes this long. */
function fourServers(decidingMs = 0) {
  const clock = new ManualClock();
  let spentMs = 0;
  const pump = () => {
    spentMs += decidingMs;
  };
  const troubles = new Troubles({
    clock: {
      now: () => clock.now() + spentMs,
      toUnixMs: (monotonicMs) => clock.toUnixMs(monotonicMs),
      schedule: (delayMs, run) => clock.schedule(delayMs, run),
    },
    random: () => 0,
    lane: { bringForward: () => {}, hasTokenRoom: () => true, hasTrialRoom: true, pump },
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
    fails: (server: string) =>
      troubles.socketEnded(server, {
        startedAt: clock.now(),
        problem: { cause: 'node_connection', detail: 'no connection' },
        signs: { panel: undefined, path: undefined, console: undefined, node: 'fails' },
      }),
  };
}

const inTrouble = ({ troubles }: ReturnType<typeof fourServers>) => [...troubles.state.troubles.keys()];

it('a failure decides at once who is in trouble', () => {
  const world = fourServers();
  for (const server of ['a', 'b']) world.fails(server);
  expect(inTrouble(world)).toEqual([]);
  world.fails('c');
  expect(inTrouble(world)).toEqual([socketsOf('n1')]);
});

it('a decision of 3 ms is followed by the next one, for all failures until then, 30 ms after its start', async () => {
  const world = fourServers(3);
  for (const server of SERVERS) world.fails(server);
  await world.clock.advance(26);
  expect(inTrouble(world)).toEqual([]);
  await world.clock.advance(1);
  expect(inTrouble(world)).toEqual([socketsOf('n1')]);
});

it('nothing is decided after the end', async () => {
  const world = fourServers(3);
  for (const server of SERVERS) world.fails(server);
  world.troubles.stop();
  await world.clock.advance(1_000);
  expect(inTrouble(world)).toEqual([]);
});
