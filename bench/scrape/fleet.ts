// A fleet of server records without sockets.

import type { Clock } from '../../src/domain/clock.ts';
import type { FleetReading, PanelReading } from '../../src/domain/reading.ts';
import { nodeReadings } from '../../src/fleet/node-readings.ts';
import { ServerRecord } from '../../src/fleet/server-record.ts';
import { sampleOf } from '../../test/support/samples.ts';

const PANEL: Omit<PanelReading, 'nodes'> = {
  name: 'main',
  up: true,
  problems: [],
  capacities: () => [],
  budget: { limitPerMinute: 192, isPinned: false, usedLastMinute: 125, queueLength: 0, paused: false },
  needs: {
    requiredCallsPerMinute: 125,
    requiredSockets: 1_000,
    allowedSockets: Number.POSITIVE_INFINITY,
    polls: 0,
  },
};

const UNIX_ORIGIN_MS = 1_700_000_000_000;
const FIRST_UPTIME_MS = 3_600_000;

/** A minute of samples, so that the memory for peaks is full. */
const WARM_UP_SAMPLES = 60;

/**
 * Real records that get a new sample with new values at every tick. They are the same in every
 * process.
 */
export class BenchmarkFleet implements FleetReading {
  readonly #records: readonly ServerRecord[];
  readonly #panels: readonly PanelReading[] = [
    { ...PANEL, nodes: (now) => nodeReadings(this.#records, () => undefined, now) },
  ];
  #ticks = 0;

  constructor(servers: number) {
    this.#records = Array.from({ length: servers }, (_, index) => recordOf(index));
    for (let sample = 0; sample < WARM_UP_SAMPLES; sample += 1) this.tick();
  }

  /** A clock that follows the ticks, so that all processes render the same text. */
  get clock(): Clock {
    return {
      now: () => this.#ticks * 1_000,
      toUnixMs: (monotonicMs) => UNIX_ORIGIN_MS + monotonicMs,
      schedule: () => () => undefined,
    };
  }

  panels(): readonly PanelReading[] {
    return this.#panels;
  }

  servers(): readonly ServerRecord[] {
    return this.#records;
  }

  /** Advances the time by a second, in which every server sends a sample. */
  tick(): void {
    this.#ticks += 1;
    const now = this.clock.now();
    for (const index of this.#records.keys()) this.sample(index, this.#ticks, now);
  }

  /** Stores a server's sample of this tick. */
  sample(index: number, tick: number, now: number): void {
    const step = tick + index;
    this.#records[index]?.socketSample(
      sampleOf({
        state: 'running',
        memoryBytes: 1_073_741_824 + (step % 97) * 1_048_576,
        memoryLimitBytes: 4_509_715_660,
        cpuCores: 0.6 + (step % 89) / 1_000,
        diskBytes: 9_123_456_789 + index,
        networkReceiveBytes: 91_234_567 + step * 12_000 + (step % 7) * 100,
        networkTransmitBytes: 812_345_678 + step * 40_000 + (step % 11) * 100,
        diskReadBytes: 1_234_567 + step * 2_000,
        diskWrittenBytes: 7_654_321 + step * 20_000,
        uptimeMs: FIRST_UPTIME_MS + now,
      }),
      now,
    );
  }
}

function recordOf(index: number): ServerRecord {
  const uuid = `1a7ce997-259b-452e-8b4e-${index.toString(16).padStart(12, '0')}`;
  const record = new ServerRecord(
    {
      panel: 'main',
      id: uuid,
      name: `server-${index + 1}`,
      labels: { game: 'minecraft' },
      expect: 'running',
      mode: 'auto',
      limits: { diskBytes: 21_474_836_480, cpuCores: 2 },
      uuid,
      node: `node-${index % 40}`,
      egg: 'Paper',
    },
    { socket: 60_000, poll: 60_000 },
  );
  record.setCollection({ condition: 'streaming' }, 'streaming');
  return record;
}
