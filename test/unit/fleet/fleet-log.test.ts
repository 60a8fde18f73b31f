import { beforeEach, expect, it } from 'vitest';
import { FleetBench, SETTINGS, servers } from '../../support/fleet-bench.ts';

const MINUTE = 60_000;

let bench: FleetBench;

beforeEach(() => {
  bench = new FleetBench();
});

const messages = () => bench.log.lines.filter(({ level }) => level !== 'debug').map(({ message }) => message);

it('a server that left is not reported later', async () => {
  bench.gateway.limitPerMinute = 1_000;
  bench.gateway.isPinned = true;
  const fleet = bench.create(servers(2));
  fleet.start();
  await bench.clock.advance(2 * MINUTE);
  for (const socket of bench.sockets) socket.drops();
  await bench.clock.advance(1_000);
  const before = messages().length;
  fleet.configure({ ...SETTINGS, servers: servers(2).slice(0, 1) });
  await bench.clock.advance(5 * MINUTE);
  const names = servers(2).map(({ name }) => name);
  const about = (name = '') =>
    messages()
      .slice(before)
      .filter((message) => message.includes(name));
  expect([about(names[0]).length, about(names[1])]).toEqual([1, []]);
  await fleet.stop();
});
