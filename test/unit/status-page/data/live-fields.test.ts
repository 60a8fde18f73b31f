import { describe, expect, it } from 'vitest';
import type { ServerReading } from '../../../../src/domain/reading.ts';
import type { LiveServer } from '../../../../src/status-page/data/live-fields.ts';
import { shownFleet } from '../../../support/page-data.ts';
import { serverReading, streamingReading } from '../../../support/readings.ts';
import { stripWith } from '../../../support/strips.ts';

/** The server's data for a viewer. */
function seen(reading: ServerReading): LiveServer {
  const [server] = shownFleet([reading]).servers;
  if (server === undefined) throw new Error('the server is missing');
  return server;
}

describe('the data of a server', () => {
  it('has the names and units of the snapshot, rounded as displayed', () => {
    const uuid = '1a7ce997-259b-452e-8b4e-cecc464142ca';
    const reading = streamingReading({
      target: { uuid, egg: 'Paper', node: 'fra-1', labels: { game: 'minecraft', tier: 'gold' } },
      cpu_limit_cores: 4,
      disk_limit_bytes: 2 ** 30,
      network_receive_bytes_per_second: 12_949,
      strip: stripWith([
        ['unknown', 58],
        ['running', 2],
      ]),
    });
    expect(seen(reading)).toEqual({
      panel: 'main',
      server: 'survival',
      server_id: '1a7ce997',
      uuid,
      egg: 'Paper',
      labels: { game: 'minecraft', tier: 'gold' },
      node: 'fra-1',
      state: 'running',
      condition: 'streaming',
      source: 'socket',
      cpu_usage_cores: 1.53,
      cpu_limit_cores: 4,
      memory_usage_bytes: 1_020 * 2 ** 20,
      memory_limit_bytes: 4_509_715_660,
      disk_usage_bytes: 118 * 2 ** 20,
      disk_limit_bytes: 2 ** 30,
      network_receive_bytes_per_second: 13_000,
      last_sample_timestamp_seconds: 0,
      start_time_seconds: 1_699_914_599,
      expected_running: 1,
      starts_total: 2,
      strip: 'u58r2',
    });
  });

  it('is absent if it is unknown', () => {
    const server = seen(serverReading());
    expect(server.state).toBe('unknown');
    expect(server.last_sample_timestamp_seconds).toBeUndefined();
    expect([server.cpu_usage_cores, server.memory_usage_bytes]).toEqual([undefined, undefined]);
  });

  it('has the time of its last sample unless samples keep coming', () => {
    const aged = (sample_age_seconds: number) => {
      const server = seen(
        streamingReading({
          sample_age_seconds,
          last_sample_timestamp_seconds: 1_700_001_000 - sample_age_seconds,
        }),
      );
      return server.last_sample_timestamp_seconds;
    };
    expect([aged(0.5), aged(2.9), aged(3), aged(100)]).toEqual([0, 0, 1_700_000_997, 1_700_000_900]);
  });
});
