import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeAccount,
  decodeBackupsPage,
  decodeCredentials,
  decodeListingPage,
  decodeNodesPage,
  decodeResources,
  decodeResourcesOfNode,
  decodeSchedules,
} from '../../../../../src/panel/dialects/calagopus/response-decoders.ts';
import { ShapeError } from '../../../../../src/panel/responses.ts';

const UUID = '1a7ce997-259b-452e-8b4e-cecc464142ca';

/** A server in the form of `ApiServer` (shared/src/models/server/mod.rs). */
const server = (changes: object = {}) => ({
  uuid: UUID,
  uuid_short: '1a7ce997',
  name: 'survival',
  node_uuid: 'd3aac109-0000-4000-8000-000000000000',
  node_name: 'node-1',
  node_maintenance_enabled: false,
  egg: { name: 'Paper' },
  status: null,
  is_suspended: false,
  is_transferring: false,
  allocation: { ip: '0.0.0.0', ip_alias: 'play.example.com', port: 25565 },
  sftp_host: 'node.example.com',
  limits: { cpu: 150, memory: 4096, swap: -1, disk: 0 },
  feature_limits: { backups: 3 },
  ...changes,
});
const page = (data: readonly unknown[], total = data.length) => ({
  servers: { total, per_page: 100, page: 1, data },
});

describe('a page of the server list', () => {
  it('has what is known of a server', () => {
    expect(decodeListingPage(page([server()], 250), 100)).toEqual({
      totalPages: 3,
      badEntries: 0,
      servers: [
        {
          identifier: '1a7ce997',
          uuid: UUID,
          name: 'survival',
          node: 'node-1',
          nodeId: 'd3aac109-0000-4000-8000-000000000000',
          egg: 'Paper',
          address: 'play.example.com:25565',
          limits: {
            memoryBytes: 4_294_967_296,
            diskBytes: 'unlimited',
            cpuCores: 1.5,
            swapBytes: 'unlimited',
          },
        },
      ],
    });
  });

  it.each([
    [{ is_suspended: true }, 'suspended'],
    [{ is_transferring: true }, 'transferring'],
    [{ status: 'installing' }, 'installing'],
    [{ status: 'install_failed' }, 'install_failed'],
    [{ status: 'restoring_backup' }, 'restoring'],
    [{ status: 'backup_restore_failed' }, 'restoring'],
    [{ node_maintenance_enabled: true }, undefined],
    [{ status: 'something new' }, undefined],
  ])('%j is blocked: %s', (changes, blocked) => {
    const [listed] = decodeListingPage(page([server(changes)]), 100).servers;
    expect(listed?.blocked).toBe(blocked);
  });

  it('has no address without an allocation, and the local one of a server without a public address', () => {
    const listed = (allocation: unknown) => decodeListingPage(page([server({ allocation })]), 100).servers[0];
    expect(listed(null)).not.toHaveProperty('address', expect.any(String));
    expect(listed({ ip: '0.0.0.0', ip_alias: null, port: 25565 })).toMatchObject({
      allocation: 'node.example.com:25565',
    });
  });

  it('counts entries that identify no server, and those beyond the requested ones', () => {
    const bad = decodeListingPage(page([null, server({ uuid: 7 }), server(), server()]), 3);
    expect([bad.servers.length, bad.badEntries]).toEqual([1, 3]);
  });
});

/** Usage in the form of `ResourceUsage` (api-clients/wings-api/src/lib.rs). */
const USAGE = {
  memory_bytes: 1_073_741_824,
  memory_limit_bytes: 4_509_715_660,
  disk_bytes: 123_456_789,
  state: 'running',
  network: { rx_bytes: 11, rx_packets: 1, tx_bytes: 22, tx_packets: 2 },
  cpu_absolute: 153.217,
  cpu_limit_absolute: 200,
  uptime: 86_400_123,
};
const SAMPLE = {
  state: 'running',
  memoryBytes: 1_073_741_824,
  memoryLimitBytes: 4_509_715_660,
  cpuCores: 1.532_17,
  diskBytes: 123_456_789,
  networkReceiveBytes: 11,
  networkTransmitBytes: 22,
  uptimeMs: 86_400_123,
};

it('resources are those of a server, or of all of a node', () => {
  expect(decodeResources({ resources: USAGE })).toMatchObject({ sample: SAMPLE, badFields: 0 });
  const ofNode = decodeResourcesOfNode({ resources: { [UUID.toUpperCase()]: USAGE } });
  expect([...ofNode.keys()]).toEqual([UUID]);
  expect(ofNode.get(UUID)).toMatchObject({ sample: SAMPLE, badFields: 0 });
});

it('a backup counts once it is complete, and a schedule has no next run', () => {
  const backups = {
    total: 2,
    data: [
      { is_successful: true, completed: '2026-01-02T03:04:05.678901Z', bytes: 5 },
      { is_successful: false, completed: null, bytes: 0 },
    ],
  };
  expect(decodeBackupsPage({ backups }, 100)).toEqual({
    totalPages: 1,
    backups: [{ isSuccessful: true, completedAtMs: Date.UTC(2026, 0, 2, 3, 4, 5, 678), bytes: 5 }],
  });
  const schedules = { total: 1, data: [{ uuid: UUID, name: 'nightly', enabled: true, last_run: null }] };
  expect(decodeSchedules({ schedules }, 100)).toEqual([{ id: UUID, name: 'nightly', isDue: true }]);
});

it('credentials, account and nodes', () => {
  expect(decodeCredentials({ token: 'x', url: 'wss://node/ws' })).toEqual({
    token: 'x',
    socketUrl: 'wss://node/ws',
    lifetimeMs: 600_000,
  });
  expect(decodeAccount({ user: { username: 'a', admin: true } })).toEqual({
    username: 'a',
    isAdmin: true,
    isKeyUnlimited: false,
  });
  const nodes = { total: 1, data: [{ name: 'n', memory: 1, disk: 0, maintenance_enabled: true }] };
  expect(decodeNodesPage({ nodes }, 100).nodes).toEqual([
    { name: 'n', memory_bytes: 1_048_576, maintenance: 1 },
  ]);
});

it.each([
  ['the server list', (body: unknown) => decodeListingPage(body, 100)],
  ['resources', decodeResources],
  ['the resources of a node', decodeResourcesOfNode],
  ['credentials', decodeCredentials],
  ['the account', decodeAccount],
  ['backups', (body: unknown) => decodeBackupsPage(body, 100)],
  ['schedules', (body: unknown) => decodeSchedules(body, 100)],
  ['nodes', (body: unknown) => decodeNodesPage(body, 100)],
])('any other JSON in place of %s is rejected as a ShapeError, or read without one', (_what, decode) => {
  fc.assert(
    fc.property(fc.jsonValue(), (body) => {
      try {
        decode(body);
      } catch (error) {
        expect(error).toBeInstanceOf(ShapeError);
      }
    }),
  );
});
