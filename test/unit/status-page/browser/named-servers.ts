// Four servers in different states, for tests of order and search.
import { shownFleet } from '../../../support/page-data.ts';
import { type ServerReadingChanges, streamingReading } from '../../../support/readings.ts';

export const named = (
  name: string,
  cpu_usage_cores: number | undefined,
  changes: ServerReadingChanges = {},
) => streamingReading({ cpu_usage_cores, ...changes, target: { id: name, name, ...changes.target } });

export const ARENA = '1a7ce997-259b-452e-8b4e-cecc464142ca';

export const servers = [
  named('lobby-10', 1),
  named('lobby-2', 3, { target: { node: 'berlin', labels: { game: 'minecraft' } } }),
  named('arena', undefined, {
    state: 'offline',
    start_time_seconds: undefined,
    starts_total: 1,
    last_stop: { timestamp_seconds: 1_699_911_000, reason: 'crashed', exit_code: 137 },
    target: { uuid: ARENA },
  }),
  named('Broken', 2, {
    starts_total: 9,
    start_time_seconds: 1_700_000_995,
    condition: 'failing',
    problem: { cause: 'node_dns', detail: 'the node could not be reached' },
  }),
];
export const fleet = shownFleet(servers);
