import { expect, it } from 'vitest';
import { readDaemonNotice } from '../../../src/panel/dialects/daemon-notices.ts';
import type { ConsoleConnection } from '../../../src/simulator/connection.ts';
import { Faults } from '../../../src/simulator/faults.ts';
import { SimulatedFleet } from '../../../src/simulator/fleet.ts';
import { DEMO_SERVERS } from '../../../src/simulator/profiles.ts';
import { initialSettings } from '../../../src/simulator/simulator-settings.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const REPORT = ['crash detected', 'exit code', 'out of memory'];

/** Records the states and the kinds of the daemon's messages that a socket receives. */
function receive(into: string[], frame: Buffer): void {
  const { event, args } = JSON.parse(frame.toString()) as { event: string; args: string[] };
  if (event === 'status') into.push(args[0] ?? '');
  const words = event === 'console output' ? readDaemonNotice(args[0] ?? '') : undefined;
  if (words !== undefined) into.push(words.kind);
}

it('the demo shows every kind of stop within twelve minutes, and none in its first half minute', async () => {
  const clock = new ManualClock();
  const settings = initialSettings({});
  const fleet = new SimulatedFleet({
    clock,
    settings: () => settings,
    faults: new Faults(),
    seed: 1,
    statsIntervalMs: 5_000,
  });
  const receivedOf = new Map<string, string[]>();
  for (const spec of DEMO_SERVERS) {
    const into: string[] = [];
    receivedOf.set(spec.name, into);
    const send = (frame: Buffer) => receive(into, frame);
    fleet.add(spec).connections.add({ send } as unknown as ConsoleConnection);
  }
  fleet.start();
  await clock.advance(30_000);
  expect([...receivedOf.values()].flat()).toEqual([]);
  await clock.advance(690_000);
  fleet.stop();
  const restarted = ['offline', ...REPORT, 'starting', 'running'];
  expect(receivedOf.get('modded-beta')?.slice(0, 12)).toEqual([...restarted, ...restarted]);
  expect(receivedOf.get('rust-weekly')).toEqual(expect.arrayContaining(restarted));
  expect(receivedOf.get('valheim-2')).toEqual(expect.arrayContaining(restarted));
  expect(receivedOf.get('factorio')).toEqual([...restarted, 'offline', ...REPORT, 'restart aborted']);
  expect(receivedOf.get('valheim-1')).toEqual(['disk full', 'stopping', 'offline']);
  const steady = [...receivedOf.values()].filter(({ length }) => length === 0);
  expect(steady).toHaveLength(DEMO_SERVERS.length - 5);
});
