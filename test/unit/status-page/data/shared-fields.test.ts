import { expect, it } from 'vitest';
import { readSharedFields } from '../../../../src/status-page/data/shared-fields.ts';
import { serverSnapshot } from '../../../support/readings.ts';

it('a server has the fields of the page and of /api/v1, with its main problem', () => {
  const server = serverSnapshot({
    target: { id: '1A7CE997-259b-452e-8b4e-cecc464142ca', labels: { team: 'games' }, egg: 'Paper' },
    node: 'node-1',
    state: 'unknown',
    condition: 'failing',
    collection_up: 0,
    problem: { cause: 'node_unreachable', detail: '' },
  });
  expect(readSharedFields(server)).toMatchObject({
    panel: 'main',
    server: 'survival',
    server_id: '1a7ce997',
    uuid: undefined,
    node: 'node-1',
    egg: 'Paper',
    labels: { team: 'games' },
    state: 'unknown',
    condition: 'failing',
    cause: 'node_unreachable',
    attention: 'no_data',
    complaint: { severity: 'error' },
    last_stop: undefined,
  });
});
