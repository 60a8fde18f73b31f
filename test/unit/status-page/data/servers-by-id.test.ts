import { expect, it } from 'vitest';
import type { ServerReading } from '../../../../src/domain/reading.ts';
import { ServerRecord } from '../../../../src/fleet/server-record.ts';
import { withIdentity } from '../../../../src/status-page/data/servers-by-id.ts';
import { target } from '../../../support/targets.ts';

const STALENESS = { socket: 60_000, poll: 60_000 };
const server = (panel: string, id: string) => new ServerRecord(target({ panel, id }), STALENESS);

it('finds the servers of all panels by their short id, in any case and form', () => {
  const one = server('main', '1A7CE997-259b-452e-8b4e-cecc464142ca');
  const other = server('other', '1a7ce997');
  const servers = [one, server('main', 'd3aac109'), other];
  expect(withIdentity(servers, '1a7ce997')).toEqual([one, other]);
  expect(withIdentity(servers, '00000000')).toEqual([]);
});

it('looks at the servers of a list once, and again at another list', () => {
  let looks = 0;
  const counted: ServerReading = Object.defineProperty(server('main', '1a7ce997'), 'target', {
    get: () => {
      looks += 1;
      return target({ id: '1a7ce997' });
    },
  });
  const servers = [counted];
  for (let request = 0; request < 10; request += 1) withIdentity(servers, '1a7ce997');
  expect(looks).toBe(1);
  withIdentity([counted], '1a7ce997');
  expect(looks).toBe(2);
});
