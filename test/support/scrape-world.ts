// Random inputs of servers, and the scrape after them.
import fc from 'fast-check';
import { expect } from 'vitest';
import { SERVER_STATES } from '../../src/domain/power-states.ts';
import type { ServerReading } from '../../src/domain/reading.ts';
import type { ServerTarget } from '../../src/domain/server.ts';
import { ServerRecord } from '../../src/fleet/server-record.ts';
import { renderFleet } from '../../src/metrics/exposition.ts';
import { PANEL_FAMILIES, SERVER_FAMILIES } from '../../src/metrics/families.ts';
import { SelfMetrics } from '../../src/metrics/self-metrics.ts';
import { PTERODACTYL } from '../../src/panel/dialects/pterodactyl.ts';
import { ShapeError } from '../../src/panel/responses.ts';
import { type ParsedFamily, parseExposition } from './exposition-parser.ts';
import { frameText, hostileText, resourcesText } from './hostile.ts';
import { ManualClock } from './manual-clock.ts';
import { fleetReading, panelReading } from './readings.ts';
import { target } from './targets.ts';

/** An input: a frame as text or as bytes, or a resources response. */
export type Incoming = { readonly afterMs: number } & (
  | { readonly frame: string }
  | { readonly base64: string; readonly isBinary?: boolean }
  | { readonly resources: string }
);

/** A server's name in the configuration, and all inputs from it. */
export interface ServerHistory {
  readonly incoming: readonly Incoming[];
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

const afterMs = fc.oneof(fc.constant(1_000), fc.nat({ max: 3_000 }), fc.nat({ max: 90_000 }));

const rawBytes = fc.oneof(
  fc.uint8Array({ maxLength: 60 }),
  // A valid frame with one or two changed bytes.
  fc
    .tuple(
      frameText,
      fc.array(fc.tuple(fc.nat({ max: 300 }), fc.integer({ min: 0, max: 255 })), { maxLength: 3 }),
    )
    .map(([text, changes]) => {
      const bytes = Buffer.from(text);
      for (const [at, byte] of changes) if (at < bytes.length) bytes[at] = byte;
      return bytes;
    }),
);

const incoming: fc.Arbitrary<Incoming> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ afterMs, frame: frameText }) },
  {
    weight: 2,
    arbitrary: fc.record({
      afterMs,
      base64: rawBytes.map((bytes) => Buffer.from(bytes).toString('base64')),
      isBinary: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ afterMs, resources: resourcesText }) },
);

const labels = fc.dictionary(fc.constantFrom('game', 'note', 'constructor', 'value_of'), hostileText);

/** A server with random inputs and a random name. */
export const serverHistory: fc.Arbitrary<ServerHistory> = fc.record({
  incoming: fc.array(incoming, { maxLength: 12 }),
  name: hostileText,
  labels,
});

/** The exposition of these servers after their inputs, and the exporter's own metrics. */
export async function scrapeAfter(histories: readonly ServerHistory[]): Promise<string> {
  const clock = new ManualClock();
  const panels = [panelReading()];
  const readings: ServerReading[] = [];
  const fleet = fleetReading(readings, panels);
  const self = new SelfMetrics({ version: '1.2.3', revision: 'abc', fleet });
  const telemetry = self.telemetry('main');
  for (const [index, { incoming, name = 'a server', labels = {} }] of histories.entries()) {
    const id = index.toString(16).padStart(8, '0');
    readings.push(await recordAfter(incoming, target({ id, name, labels }), { clock, telemetry }));
  }
  return `${[...renderFleet(fleet, clock)].join('')}\n${await self.metrics()}`;
}

interface Surroundings {
  readonly clock: ManualClock;
  readonly telemetry: ReturnType<SelfMetrics['telemetry']>;
}

async function recordAfter(
  incoming: readonly Incoming[],
  server: ServerTarget,
  { clock, telemetry }: Surroundings,
): Promise<ServerRecord> {
  const record = new ServerRecord(server, { socket: 60_000, poll: 75_000 });
  const handler = {
    telemetry,
    unreadable: () => undefined,
    consoleLine: () => {
      record.consoleLines += 1;
    },
    stats: (sample: Parameters<ServerRecord['socketSample']>[0]) => record.socketSample(sample, clock.now()),
    status: (state: Parameters<ServerRecord['stateHint']>[0]) => record.stateHint(state, clock.now()),
    authenticated: () => record.interrupted(),
    tokenEnding: () => undefined,
    jwtError: () => undefined,
    daemonError: () => undefined,
    backupCompleted: () => undefined,
  };
  for (const step of incoming) {
    await clock.advance(step.afterMs);
    if ('resources' in step) takeResources(step.resources, record, clock.now());
    else if ('frame' in step) PTERODACTYL.socket.handleFrame(Buffer.from(step.frame), false, handler);
    else PTERODACTYL.socket.handleFrame(Buffer.from(step.base64, 'base64'), step.isBinary ?? false, handler);
  }
  return record;
}

function takeResources(body: string, record: ServerRecord, now: number): void {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return;
  }
  try {
    const { sample } = PTERODACTYL.requests.resources({ id: '' }).decode(value);
    if (sample !== undefined) record.pollSample(sample, now, now);
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error;
  }
}

/**
 * Parses an exposition strictly, and asserts the properties of every scrape. Returns its families.
 */
export function expectSoundScrape(text: string, servers: number): readonly ParsedFamily[] {
  const families = parseExposition(text);
  const ours = families.filter(({ name }) => !/^(?:gameserver_exporter|process|nodejs)_/.test(name));
  expect(ours.map(({ name }) => name)).toEqual(
    [...SERVER_FAMILIES, ...PANEL_FAMILIES].map(({ name }) => name),
  );
  for (const { name, series } of ours) {
    // A panel may report that a server has been running since before 1970.
    const lowest = name === 'gameserver_start_time_seconds' ? -Number.MAX_VALUE : 0;
    for (const { value } of series) {
      expect(Number.isFinite(value) && value >= lowest, `${name} is ${value}`).toBe(true);
    }
  }
  const states = ours.find(({ name }) => name === 'gameserver_state')?.series ?? [];
  expect(states).toHaveLength(SERVER_STATES.length * servers);
  expect(states.filter(({ value }) => value === 1)).toHaveLength(servers);
  expect(states.filter(({ value }) => value === 0)).toHaveLength((SERVER_STATES.length - 1) * servers);
  return families;
}
