import { expect, test } from 'vitest';
import type { FleetReading } from '../../../../src/domain/reading.ts';
import { jsonView } from '../../../../src/status-page/data/json-view.ts';
import { updateText } from '../../../../src/status-page/data/live-update.ts';
import { takePicture } from '../../../../src/status-page/data/picture.ts';
import { targetGroups } from '../../../../src/status-page/data/service-discovery.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { fleetReading, largeFleet, panelReading } from '../../../support/readings.ts';

const clock = new ManualClock();
const SERVERS = 1_000;

/** A fleet that counts how often its servers are read. */
function countedFleet(): { fleet: FleetReading; read: { count: number } } {
  const read = { count: 0 };
  const servers = largeFleet(SERVERS).servers();
  for (const server of servers) {
    const { target } = server;
    const snapshot = server.snapshot(clock.now(), clock);
    const counted = <Value>(value: Value) => {
      read.count += 1;
      return value;
    };
    Object.defineProperty(server, 'target', {
      get: () => counted({ ...target, address: '203.0.113.7:25565' }),
    });
    Object.assign(server, { snapshot: () => counted(snapshot) });
  }
  return { fleet: fleetReading(servers, [panelReading()]), read };
}

const boardSource = (fleet: FleetReading) => ({ fleet, clock, version: '1.2.3', rateLimited: () => 0 });

// Without panels, because their missing servers are counted at once, without snapshots.
function* updateOf(fleet: FleetReading): Generator<string, void, void> {
  const source = boardSource({ ...fleet, panels: () => [] });
  yield* updateText('1.2.3', undefined, yield* takePicture(source));
}

test.each<[string, (fleet: FleetReading) => Iterable<string>]>([
  ['the JSON view', (fleet) => jsonView(boardSource(fleet))],
  ['service discovery', targetGroups],
  ["a viewer's event", updateOf],
])('%s reads a few servers, and writes a few kilobytes, between two blocks', (_, walk) => {
  const { fleet, read } = countedFleet();
  const blocks = walk(fleet)[Symbol.iterator]();
  let [most, longest] = [0, 0];
  for (;;) {
    const before = read.count;
    const { done, value } = blocks.next();
    if (done === true) break;
    most = Math.max(most, read.count - before);
    longest = Math.max(longest, value.length);
  }
  expect(read.count).toBeGreaterThanOrEqual(SERVERS);
  expect(most).toBeLessThanOrEqual(16);
  expect(longest).toBeLessThan(100_000);
});
