import { beforeEach, expect, it } from 'vitest';
import { PanelError } from '../../../src/panel/errors.ts';
import { FleetBench, SETTINGS, servers } from '../../support/fleet-bench.ts';

const MINUTE = 60_000;
const DOWN = new PanelError({ cause: 'connection', detail: 'no connection' });

let bench: FleetBench;

beforeEach(() => {
  bench = new FleetBench();
});

const messages = () => bench.log.lines.filter(({ level }) => level !== 'debug').map(({ message }) => message);

it('servers that stream once the panel recovered are logged like others', async () => {
  const take = bench.gateway.answerCredentials;
  bench.gateway.answerCredentials = () => Promise.reject(DOWN);
  bench.gateway.answerResources = () => Promise.reject(DOWN);
  bench.gateway.limitPerMinute = 1_000;
  bench.gateway.isPinned = true;
  const fleet = bench.create(servers(20));
  fleet.start();
  bench.gateway.becomes('down', DOWN.problem);
  await bench.clock.advance(MINUTE);
  const before = messages().length;
  bench.gateway.answerCredentials = take;
  bench.gateway.becomes('up');
  await bench.clock.advance(2 * MINUTE);
  expect(messages().slice(before)).toEqual([
    ...Array.from({ length: 5 }, () => expect.stringMatching(/^server .+ is streaming$/)),
    expect.stringMatching(/^15 more sockets open \(/),
  ]);
  await fleet.stop();
  expect(bench.clock.pending).toBe(0);
});

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
