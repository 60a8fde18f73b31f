import { describe, expect, it } from 'vitest';
import { CAUSES } from '../../../../src/diagnosis/causes.ts';
import { checkHealth, serversWithId } from '../../../../src/status-page/data/server-health.ts';
import {
  fleetReading,
  type ServerReadingChanges,
  serverReading,
  serverSnapshot,
  streamingSnapshot,
} from '../../../support/readings.ts';

const NOW = 1_700_001_000;

describe('health of', () => {
  it.each<[string, ServerReadingChanges, string]>([
    ['a starting server', { state: 'starting' }, 'starting'],
    ['a server that is off', { state: 'offline' }, 'offline'],
    [
      'a server that somebody stopped',
      {
        state: 'offline',
        off_reason: 'requested',
        last_stop: { timestamp_seconds: NOW, reason: 'requested' },
      },
      'stopped on request',
    ],
    ['a server in a state that the exporter does not know', { state: 'unknown' }, 'unknown state'],
    [
      'a crashed server',
      {
        state: 'offline',
        off_reason: 'crashed',
        last_stop: { timestamp_seconds: NOW, reason: 'crashed', exit_code: 137 },
      },
      'crashed, exit code 137',
    ],
    [
      'a server on hold',
      { state: 'offline', blocked: 'suspended', problem: { cause: 'suspended', detail: '' } },
      CAUSES.suspended.title,
    ],
  ])('%s: its reason', (_, changes, reason) => {
    expect(checkHealth(streamingSnapshot(changes))).toMatchObject({ healthy: false, reason });
  });

  it('a running server is healthy, whatever is expected of it', () => {
    const health = checkHealth(streamingSnapshot({ expected_running: 0 }));
    expect(health).toEqual({
      panel: 'main',
      server: 'survival',
      server_id: '1a7ce997',
      healthy: true,
      state: 'running',
    });
  });

  it('a server without fresh samples is not healthy', () => {
    expect(checkHealth(serverSnapshot())).toMatchObject({ healthy: false, reason: 'no data yet' });
  });
});

describe('servers with an id', () => {
  const uuid = '1a7ce997-259b-452e-8b4e-cecc464142ca';
  const one = serverReading({ target: { uuid } });
  const other = serverReading({ target: { panel: 'second' } });
  const discovered = serverReading({ target: { panel: 'third', isDiscovered: true } });
  const fleet = fleetReading([one, other]);

  it('the only configured one takes precedence over those of other server lists', () => {
    expect(serversWithId(fleetReading([discovered, other]), '1a7ce997')).toEqual([other]);
    expect(serversWithId(fleetReading([discovered, other]), '1a7ce997', 'third')).toEqual([discovered]);
    expect(serversWithId(fleetReading([one, discovered, other]), '1a7ce997')).toHaveLength(3);
    expect(serversWithId(fleetReading([discovered, discovered]), '1a7ce997')).toHaveLength(2);
  });

  it.each([
    ['1a7ce997', undefined, [one, other]],
    ['1A7CE997', 'second', [other]],
    [uuid.toUpperCase(), undefined, [one]],
    ['survival', undefined, []],
  ])('%s on panel %s', (id, panel, servers) => {
    expect(serversWithId(fleet, id, panel)).toEqual(servers);
  });
});
