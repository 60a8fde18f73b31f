// A small fleet of simulated servers.
import type { FleetReading } from '../../src/domain/reading.ts';
import { fleetReading, panelReading, serverReading, staleReading, streamingReading } from './readings.ts';

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
        memory_limit_bytes: 8_589_934_592,
        cpu_limit_cores: 4,
        disk_limit_bytes: 53_687_091_200,
        players: 12,
        players_max: 40,
        query_up: 1,
        query_duration_seconds: 0.05,
      }),
      streamingReading({
        target: { id: 'd3aac109', name: 'lobby "night"\\\n' },
        memory_usage_bytes: 0,
        cpu_usage_cores: 0,
        state: 'offline',
        start_time_seconds: undefined,
      }),
      streamingReading({
        target: { id: '77aa01bc', name: 'polled', expect: 'any' },
        condition: 'polling',
        source: 'poll',
        memory_usage_bytes: 1_024,
        memory_limit_bytes: undefined,
        cpu_usage_cores: 0.5,
        disk_usage_bytes: 2_048,
        network_receive_bytes_total: undefined,
        network_transmit_bytes_total: undefined,
        disk_read_bytes_total: undefined,
        disk_written_bytes_total: undefined,
        cpu_usage_peak_cores: undefined,
        memory_usage_peak_bytes: undefined,
        sample_age_seconds: 12.345,
        last_sample_timestamp_seconds: 1_700_000_987.655,
      }),
      staleReading({
        target: { id: '5e0c11d2', name: 'stale' },
        condition: 'failing',
        sample_age_seconds: 60.001,
        last_sample_timestamp_seconds: 1_700_000_939.999,
      }),
      serverReading({
        target: { panel: 'second', id: '0badcafe', name: 'suspended' },
        condition: 'blocked',
        blocked: 'suspended',
      }),
    ],
    [
      panelReading({
        nodes: [
          { name: 'fra-1', up: true },
          {
            name: 'node-2.example.com:8080',
            up: false,
            problem: { cause: 'node_tls_expired', detail: 'CERT_HAS_EXPIRED' },
          },
        ],
      }),
      panelReading({
        name: 'second',
        up: false,
        problems: [
          { cause: 'key_address', detail: 'This IP address (203.0.113.7) does not have permission' },
        ],
        nodes: [{ name: 'ams-1', up: true }],
      }),
    ],
  );
}
