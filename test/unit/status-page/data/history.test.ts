import { expect, it } from 'vitest';
import { historyText } from '../../../../src/status-page/data/history.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { fleetReading, streamingReading } from '../../../support/readings.ts';

const clock = new ManualClock();
const source = (servers: ReturnType<typeof streamingReading>[]) => ({
  fleet: fleetReading(servers),
  clock,
  version: '1.2.3',
  rateLimited: () => 0,
});

it('a history has the address at which players join, if the server list shows it', () => {
  const id = '1a7ce997';
  const listed = streamingReading({ target: { id, address: 'play.example.com:25565' } });
  const servers = (one: ReturnType<typeof streamingReading>): unknown =>
    JSON.parse([...historyText(source([one]), [`main/${id}`], [])].join(''));
  expect(servers(listed)).toMatchObject({ servers: [{ address: 'play.example.com:25565' }] });
  expect(servers(streamingReading({ target: { id } }))).toMatchObject({ servers: [{ server_id: id }] });
});

it('a history reads only the servers that were asked for, however many there are', () => {
  let read = 0;
  const all = Array.from({ length: 1_000 }, (_, at) => {
    const server = streamingReading({ target: { id: `id-${at}` } });
    return Object.assign(server, {
      history: () => {
        read += 1;
        return { end_timestamp_seconds: 0, series: {}, state_changes: [] };
      },
    });
  });
  [...historyText(source(all), ['main/id-7', 'other/id-7'], [])].join('');
  expect(read).toBe(1);
});
