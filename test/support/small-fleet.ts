import type { FleetReading } from '../../src/domain/reading.ts';
import {
  FULL_SAMPLE,
  fleetReading,
  panelReading,
  READ_AT,
  serverReading,
  streamingReading,
} from './readings.ts';

/** One server of each profile, on two panels. */
export function smallFleet(): FleetReading {
  return fleetReading(
    [
      streamingReading({
        target: {
          labels: { game: 'minecraft' },
          limits: { memoryBytes: 8_589_934_592, diskBytes: 53_687_091_200, cpuCores: 4 },
          uuid: '1a7ce997-259b-452e-8b4e-cecc464142ca',
          node: 'fra-1',
          egg: 'Paper',
        },
        query: { players: 12, playersMax: 40, durationSeconds: 0.05, staleAt: READ_AT + 60_000 },
      }),
      streamingReading({
        target: { id: 'd3aac109', name: 'lobby "night"\\\n' },
        sample: { ...FULL_SAMPLE, state: 'offline', memoryBytes: 0, cpuCores: 0 },
        state: 'offline',
        startedAt: undefined,
      }),
      streamingReading({
        target: { id: '77aa01bc', name: 'polled', expect: 'any' },
        status: { condition: 'polling' },
        source: 'poll',
        sample: { state: 'running', memoryBytes: 1_024, cpuCores: 0.5, diskBytes: 2_048 },
        sampledAt: READ_AT - 12_345,
        peaks: {},
      }),
      streamingReading({
        target: { id: '5e0c11d2', name: 'stale' },
        status: { condition: 'failing' },
        sampledAt: READ_AT - 60_001,
      }),
      serverReading({
        target: { panel: 'second', id: '0badcafe', name: 'suspended' },
        status: { condition: 'blocked', blocked: 'suspended' },
      }),
    ],
    [
      panelReading({ nodes: [{ name: 'fra-1', up: true }] }),
      panelReading({
        name: 'second',
        up: false,
        problems: [
          { cause: 'key_address', detail: 'This IP address (203.0.113.7) does not have permission' },
        ],
        nodes: [
          {
            name: 'node-2.example.com:8080',
            up: false,
            problem: { cause: 'node_tls_expired', detail: 'CERT_HAS_EXPIRED' },
          },
        ],
      }),
    ],
  );
}
