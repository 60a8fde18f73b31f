import { describe, expect, it } from 'vitest';
import { CALAGOPUS } from '../../../../src/panel/dialects/calagopus.ts';

const { requests } = CALAGOPUS;

describe("Calagopus' paths", () => {
  it.each([
    [requests.websocket({ id: '1a7ce997' }), '/api/client/servers/1a7ce997/websocket'],
    [requests.resources({ id: '../..?x' }), '/api/client/servers/%2E%2E%2F%2E%2E%3Fx/resources'],
    [requests.listing({ page: 2, perPage: 100 }), '/api/client/servers?page=2&per_page=100'],
    [requests.listing({ page: 2, perPage: 50, type: 'owner' }), '/api/client/servers?page=2&per_page=50'],
    [
      requests.listing({ page: 2, perPage: 50, type: 'admin' }),
      '/api/client/servers?page=2&per_page=50&other=true',
    ],
    [requests.listing({ page: 3, perPage: 50, type: 'admin-all' }), '/api/client/servers?page=2&per_page=50'],
    [
      requests.listing({ page: 4, perPage: 50, type: 'admin-all' }),
      '/api/client/servers?page=2&per_page=50&other=true',
    ],
    [
      requests.backups({ id: '1a7ce997', page: 3 }),
      '/api/client/servers/1a7ce997/backups?page=3&per_page=100',
    ],
    [requests.nodes({}), '/api/admin/nodes?page=1&per_page=100'],
  ])('%o', ({ path }, expected) => {
    expect(path).toBe(expected);
  });
});

it('a list of all servers has the pages of both lists', () => {
  const body = { servers: { total: 3, per_page: 2, page: 1, data: [] } };
  expect(requests.listing({ perPage: 2, type: 'admin-all' }).decode(body)).toMatchObject({ totalPages: 4 });
  expect(requests.listing({ perPage: 2 }).decode(body)).toMatchObject({ totalPages: 2 });
});

it('the limit of an unchanged installation is known before a response reports it', () => {
  expect(CALAGOPUS.rate).toMatchObject({ scope: 'address', windowMs: 30_000, defaultPerMinute: 720 });
});
