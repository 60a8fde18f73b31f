import { describe, expect, it } from 'vitest';
import { pageDocument, refusal, refusalAnswer, resourcesDocument } from '../../../src/simulator/answers.ts';
import { serverDocument } from '../../../src/simulator/panel-kinds.ts';

const USAGE = {
  memoryBytes: 1_073_741_824,
  memoryLimitBytes: 4_509_715_660,
  cpuAbsolute: 153.217,
  diskBytes: 123_456_789,
  rxBytes: 1,
  txBytes: 2,
  readBytes: 0,
  writtenBytes: 0,
  uptimeMs: 86_400_123,
};

describe('errors', () => {
  it.each([
    ['errors', '{"errors":[{"code":"ServerStateConflictException","status":"409","detail":"suspended"}]}'],
    ['message', '{"error":"Conflict","message":"suspended"}'],
  ] as const)('have the shape "%s"', (shape, body) => {
    expect(refusalAnswer(refusal(409, 'suspended'), shape)).toEqual({
      status: 409,
      headers: { 'content-type': 'application/json' },
      body,
    });
  });

  it("can be a proxy's page", () => {
    const { headers, body } = refusalAnswer(refusal(502), 'html');
    expect(headers['content-type']).toContain('text/html');
    expect(body).toContain('502 Bad Gateway');
  });
});

describe('documents', () => {
  it('divide a list into pages', () => {
    const page = (number: number) =>
      pageDocument([1, 2, 3, 4, 5], number, 2, (item) => ({ item })) as {
        data: unknown[];
        meta: { pagination: object };
      };
    expect(page(3).data).toEqual([{ item: 5 }]);
    expect(page(3).meta.pagination).toMatchObject({ total: 5, count: 1, current_page: 3, total_pages: 3 });
    expect(page(4).data).toEqual([]);
  });

  it.each([
    ['suspended', { status: 'suspended', is_suspended: true }],
    ['installing', { status: 'installing', is_installing: true }],
    ['restoring_backup', { status: 'restoring_backup', is_suspended: false }],
    ['transferring', { status: null, is_transferring: true }],
    ['maintenance', { status: null, is_node_under_maintenance: true }],
    [undefined, { status: null, is_suspended: false, is_installing: false, is_transferring: false }],
  ] as const)('list a server with the conflict %s', (conflict, attributes) => {
    const limits = { memory: 1, swap: -1, disk: 0, cpu: 50, io: 500 };
    const names = { uuid: 'u', identifier: 'i', name: 'n', node: 'node-1', egg: 'Paper' };
    const identity = {
      ...names,
      owned: true,
      backupLimit: 3,
      allocations: [],
      variables: {},
      nodeAddress: 'node.example.com',
      daemonType: 'wings' as const,
    };
    expect(serverDocument('pterodactyl', { ...identity, limits, conflict }, true)).toMatchObject({
      attributes: { ...attributes, limits, relationships: { egg: { attributes: { name: 'Paper' } } } },
    });
  });

  it('contain resources', () => {
    expect(resourcesDocument('running', USAGE, false)).toEqual({
      object: 'stats',
      attributes: {
        current_state: 'running',
        is_suspended: false,
        resources: {
          memory_bytes: 1_073_741_824,
          cpu_absolute: 153.217,
          disk_bytes: 123_456_789,
          network_rx_bytes: 1,
          network_tx_bytes: 2,
          uptime: 86_400_123,
        },
      },
    });
  });
});
