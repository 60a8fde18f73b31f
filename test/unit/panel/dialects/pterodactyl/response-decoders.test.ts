import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeCredentials } from '../../../../../src/panel/dialects/pterodactyl/credentials.ts';
import {
  decodeBackupsPage,
  decodeListingPage,
  decodeNodesPage,
  decodeSchedules,
} from '../../../../../src/panel/dialects/pterodactyl/response-decoders.ts';
import {
  decodeResources,
  decodeStats as decodeStatsInto,
} from '../../../../../src/panel/dialects/pterodactyl/stats.ts';
import { ShapeError } from '../../../../../src/panel/responses.ts';
import { type SampleValues, sampleOf, valuesOf } from '../../../../support/samples.ts';

/** The sample in a payload, and the number of unusable fields. */
function decodeStats(payload: unknown): { readonly sample: SampleValues; readonly badFields: number } {
  const numbers = sampleOf({ state: 'stopping', uptimeMs: 7, diskBytes: 7 });
  const badFields = decodeStatsInto(payload, numbers);
  return { sample: valuesOf(numbers), badFields };
}

describe('decodeStats', () => {
  it("reads a panel's word for a server about which the node reports nothing as the state of one that is off", () => {
    expect(decodeStats({ state: 'stopped' }).sample).toEqual({ state: 'offline' });
  });

  it.each([
    [
      'an old version without uptime and disk_io',
      { state: 'offline', memory_bytes: 0 },
      { state: 'offline', memoryBytes: 0 },
      0,
    ],
    ['a limit of 0 from a server that was never started', { memory_limit_bytes: 0 }, {}, 0],
    ['an unknown state', { state: 'hibernating' }, { state: 'unknown', unknownState: 'hibernating' }, 0],
    ['a state that is not a string', { state: 1 }, {}, 1],
    ['null', { memory_bytes: null, network: null, state: null }, {}, 3],
    ['a negative number', { memory_bytes: -1, disk_bytes: 5 }, { diskBytes: 5 }, 1],
    ['numbers that are too large', JSON.parse('{"memory_bytes":1e308,"uptime":1e999}'), {}, 2],
    ['an uptime of more than a hundred years', { uptime: 4e12 }, {}, 1],
    ['a number in a string', { memory_bytes: '1024' }, {}, 1],
    [
      'wrong types',
      { memory_bytes: {}, cpu_absolute: [], disk_bytes: true, network: 'x', disk_io: [] },
      {},
      5,
    ],
    [
      'an incomplete network object',
      { network: { rx_bytes: 7, tx_bytes: null } },
      { networkReceiveBytes: 7 },
      1,
    ],
    [
      'a poisoned prototype',
      JSON.parse('{"__proto__":{"memory_bytes":1},"disk_bytes":2}'),
      { diskBytes: 2 },
      0,
    ],
  ])('%s', (_name, payload: unknown, sample, badFields) => {
    expect(decodeStats(payload)).toStrictEqual({ sample, badFields });
  });

  it.each([[undefined], [null], [1], ['x'], [[]], [true]])('returns an empty sample for %j', (payload) => {
    expect(decodeStats(payload)).toEqual({ sample: {}, badFields: 1 });
  });

  it('never throws, and returns only finite numbers from 0 up', () => {
    const value = fc.oneof(fc.double(), fc.integer(), fc.jsonValue(), fc.constant(undefined));
    const names = ['memory_bytes', 'memory_limit_bytes', 'cpu_absolute', 'uptime', 'state', 'disk_bytes'];
    const nested = ['network', 'disk_io', 'rx_bytes', 'tx_bytes', 'read_bytes', '__proto__'];
    const fields = fc.dictionary(fc.constantFrom(...names, ...nested), value);
    const payload = fc.oneof(
      fc.jsonValue(),
      fields,
      fc.record({ network: fields, disk_io: fields }, { requiredKeys: [] }),
    );
    fc.assert(
      fc.property(payload, (input) => {
        const { sample, badFields } = decodeStats(input);
        expect(badFields).toBeGreaterThanOrEqual(0);
        const { state: _, unknownState: __, ...quantities } = sample;
        for (const quantity of Object.values(quantities)) {
          expect(quantity >= 0 && quantity <= Number.MAX_SAFE_INTEGER && !Object.is(quantity, -0)).toBe(true);
        }
      }),
    );
  });
});

describe('decodeResources', () => {
  const body = (attributes: object, object = 'stats') => ({ object, attributes });
  const resources = {
    memory_bytes: 10,
    cpu_absolute: 50,
    disk_bytes: 20,
    network_rx_bytes: 30,
    network_tx_bytes: 40,
    uptime: 5_000,
  };
  const sample: SampleValues = {
    state: 'running',
    memoryBytes: 10,
    cpuCores: 0.5,
    diskBytes: 20,
    networkReceiveBytes: 30,
    networkTransmitBytes: 40,
    uptimeMs: 5_000,
  };

  it('recognizes a suspended server', () => {
    expect(
      decodeResources(body({ current_state: 'offline', is_suspended: true, resources: {} })),
    ).toMatchObject({
      sample: sampleOf({ state: 'offline' }),
      suspended: true,
    });
  });

  it('uses the valid fields and counts the others', () => {
    const attributes = {
      current_state: null,
      is_suspended: 'no',
      resources: { ...resources, disk_bytes: -1 },
    };
    const { state: _, diskBytes: __, ...usable } = sample;
    expect(decodeResources(body(attributes))).toStrictEqual({
      sample: sampleOf(usable),
      suspended: false,
      badFields: 3,
    });
    expect(decodeResources(body({ current_state: 'running', resources: null })).badFields).toBe(1);
  });

  it.each([[null], [[]], [{}], [{ attributes: {} }], ['x']])('rejects %j', (answer) => {
    expect(() => decodeResources(answer)).toThrow(/expected/);
  });
});

it('CPU of more than ten thousand cores is ignored', () => {
  const tooMuch = { cpu_absolute: 1e6 + 0.001 };
  expect(decodeStats({ cpu_absolute: 1e6 })).toEqual({ sample: { cpuCores: 1e4 }, badFields: 0 });
  expect(decodeStats(tooMuch)).toEqual({ sample: {}, badFields: 1 });
  const { sample, badFields } = decodeResources({
    attributes: { current_state: 'running', resources: tooMuch },
  });
  expect(sample).toEqual(sampleOf({ state: 'running' }));
  expect(badFields).toBe(1);
});

const allocationEntry = (attributes: object) => ({ object: 'allocation', attributes });
const serverEntry = (attributes: object) => ({ object: 'server', attributes });
const listingPage = (data: unknown[], totalPages: unknown = 1) => ({
  object: 'list',
  data,
  meta: { pagination: { total_pages: totalPages } },
});

it.each<[string, (body: unknown) => unknown]>([
  ['the server list', (body) => decodeListingPage(body, 100)],
  ['credentials', decodeCredentials],
  ['resources', decodeResources],
  ['backups', decodeBackupsPage],
  ['schedules', decodeSchedules],
  ['nodes', decodeNodesPage],
])('a decoder throws only a ShapeError: %s', (_what, decode) => {
  const entry = fc.oneof(
    fc.jsonValue(),
    fc.jsonValue().map((attributes) => ({ attributes })),
  );
  fc.assert(
    fc.property(
      fc.oneof(
        entry,
        fc.array(entry).map((data) => ({ data })),
      ),
      (body) => {
        try {
          decode(body);
        } catch (error) {
          expect(error).toBeInstanceOf(ShapeError);
        }
      },
    ),
  );
});

describe('decodeListingPage', () => {
  const serverOf = (attributes: object) =>
    decodeListingPage(listingPage([serverEntry({ identifier: 'ab', uuid: 'abc', ...attributes })]), 100)
      .servers[0];
  const withAllocations = (allocations: readonly object[], more: object = {}) =>
    serverOf({
      relationships: { allocations: { object: 'list', data: allocations.map(allocationEntry) }, ...more },
    });

  it.each([
    [{}, { blocked: undefined }],
    [{ status: 'suspended', is_installing: true }, { blocked: 'suspended' }],
    [{ is_suspended: true, is_transferring: true }, { blocked: 'suspended' }],
    [{ is_transferring: true }, { blocked: 'transferring' }],
    [{ status: 'installing' }, { blocked: 'installing' }],
    [{ is_installing: true, is_node_under_maintenance: true }, { blocked: 'installing' }],
    [{ status: 'install_failed' }, { blocked: 'install_failed' }],
    [{ status: 'install_failed', is_installing: true }, { blocked: 'install_failed' }],
    [{ status: 'install_failed', is_suspended: true }, { blocked: 'suspended' }],
    // Servers with this status remain usable.
    [{ status: 'reinstall_failed' }, { blocked: undefined, isReinstallFailed: true }],
    [{ status: 'installing' }, { isReinstallFailed: undefined }],
    [{ status: 'restoring_backup' }, { blocked: 'restoring' }],
    [{ is_node_under_maintenance: true }, { blocked: 'maintenance' }],
    [{ feature_limits: { backups: null } }, { withoutBackups: undefined }],
    [{ feature_limits: { backups: 0 } }, { withoutBackups: true }],
    [
      { limits: { disk: 0, cpu: 250, swap: -1 } },
      { limits: { diskBytes: 'unlimited', cpuCores: 2.5, swapBytes: 'unlimited' } },
    ],
    [{ limits: { memory: -5, disk: '1', cpu: 1e300, swap: -2, io: 0 } }, { limits: {} }],
    [{ limits: { swap: 0 } }, { limits: { swapBytes: 0 } }],
    [{ limits: { swap: 512 } }, { limits: { swapBytes: 536_870_912 } }],
    [
      { limits: null, name: '' },
      { limits: {}, name: 'ab' },
    ],
  ])('reads %j', (attributes, expected) => {
    expect(serverOf(attributes)).toMatchObject(expected);
  });

  const DEFAULT = { ip: '203.0.113.7', ip_alias: null, port: 25_565, is_default: true };

  it.each<[string, object[], string | undefined]>([
    ['only the default one', [DEFAULT], '203.0.113.7:25565'],
    ['an alias', [{ ...DEFAULT, ip_alias: 'play.example.com' }], 'play.example.com:25565'],
    ['no default', [{ ...DEFAULT, is_default: false }], undefined],
    ['a default that is not a boolean', [{ ...DEFAULT, is_default: 1 }], undefined],
    ['no allocations', [], undefined],
  ])('reads the address from allocations with %s', (_what, allocations, address) => {
    expect(withAllocations(allocations)?.address).toBe(address);
  });

  it.each([
    null,
    7,
    [],
    { allocations: null },
    { allocations: { data: {} } },
    { allocations: { data: [null, 7] } },
  ])('reads no address from the relationships %j', (relationships) => {
    expect(serverOf({ relationships })).toMatchObject({ address: undefined });
  });

  const allocations = [
    { ...DEFAULT, ip: '203.0.113.7', port: 2456, is_default: true },
    { ...DEFAULT, ip: '203.0.113.7', port: 2457, is_default: false },
    { ...DEFAULT, ip: '203.0.113.7', port: 27_020, is_default: false },
    { ...DEFAULT, ip: '203.0.113.8', port: 27_021, is_default: false },
    { ...DEFAULT, ip: '203.0.113.7', port: '27022', is_default: false },
  ];
  const named = (env_variable: unknown, server_value: unknown, default_value: unknown = '2457') => ({
    object: 'egg_variable',
    attributes: { env_variable, server_value, default_value },
  });
  const variables = (...data: unknown[]) => ({ variables: { object: 'list', data } });

  it('knows at most 16 ports of a server, and the one that a variable contains', () => {
    const many = Array.from({ length: 999 }, (_, index) => ({ ...DEFAULT, port: 3_000 + index }));
    const server = withAllocations([DEFAULT, ...many], variables(named('QUERY_PORT', '3998')));
    expect(server?.otherPorts).toEqual(many.slice(0, 15).map(({ port }) => port));
    expect(server?.namedPort).toBe(3_998);
  });

  it.each<[string, unknown[], number | undefined]>([
    ['QUERY_PORT', [named('SERVER_PORT', '2457'), named('QUERY_PORT', '27020')], 27_020],
    ['SERVER_QUERY_PORT', [named('SERVER_QUERY_PORT', '27020')], 27_020],
    ['STEAM_QUERY_PORT', [named('STEAM_QUERY_PORT', '27020')], 27_020],
    ['QUERYPORT', [named('QUERYPORT', '27020')], 27_020],
    ['QPORT, as a number', [named('QPORT', 27_020)], 27_020],
    ['its default', [named('QUERY_PORT', null)], 2457],
    ['one that contains a port of the server', [named('QUERY_PORT', ''), named('QPORT', '27020')], 27_020],
    [
      'other names',
      [named('RCON_PORT', '27020'), named('QUERY_PORTAL', '2457'), named(7, '2457')],
      undefined,
    ],
    ['the default port', [named('QUERY_PORT', '2456')], undefined],
    ["a port that isn't the server's", [named('QUERY_PORT', '27015')], undefined],
    ['a port at another address', [named('QUERY_PORT', '27021')], undefined],
    ['no port', [named('QUERY_PORT', 'auto'), named('QUERY_PORT', ''), named('QUERY_PORT', [])], undefined],
    ['what are no variables', [null, 7, { attributes: null }], undefined],
  ])('reads the query port from variables: %s', (_, entries, port) => {
    const server = withAllocations(allocations, variables(...entries));
    expect(server).toMatchObject({ address: '203.0.113.7:2456', otherPorts: [2457, 27_020] });
    expect(server?.namedPort).toBe(port);
  });

  it.each<[string, object, unknown, string | undefined]>([
    ['for 0.0.0.0', { ip: '0.0.0.0' }, { ip: 'fra-1.example.com' }, 'fra-1.example.com:25565'],
    ['for ::', { ip: '::' }, { ip: '2001:db8::7' }, '[2001:db8::7]:25565'],
    ['but not for a link-local address', { ip: '169.254.7.7' }, { ip: 'fra-1' }, '169.254.7.7:25565'],
    ['unless it is no host', { ip: '0.0.0.0' }, { ip: 'free text' }, ':25565'],
    ['unless it is unspecified', { ip: '0.0.0.0' }, { ip: '0.0.0.0' }, ':25565'],
    ['unless there is none', { ip: '0.0.0.0' }, null, ':25565'],
    ['but not beside an address', { ip: '203.0.113.7' }, { ip: 'fra-1' }, undefined],
  ])("reads the node's address %s", (_, place, sftp_details, allocation) => {
    const data = [allocationEntry({ ip_alias: null, port: 25_565, is_default: true, ...place })];
    const server = serverOf({ relationships: { allocations: { object: 'list', data } }, sftp_details });
    expect(server?.allocation).toBe(allocation);
    expect(server?.address).toBe(allocation === undefined ? '203.0.113.7:25565' : undefined);
  });

  it('omits and counts entries that identify no server', () => {
    const entries = [
      null,
      1,
      serverEntry({ name: 'nameless' }),
      serverEntry({ identifier: 'ab' }),
      serverEntry({ uuid: '1a7ce997-259b-452e-8b4e-cecc464142ca' }),
      serverEntry({ identifier: 'ab', uuid: 'abc' }),
    ];
    expect(decodeListingPage(listingPage(entries), 100)).toMatchObject({
      // One id suffices to identify a server.
      servers: [{ identifier: 'ab', uuid: 'ab' }, { identifier: '1a7ce997' }, { uuid: 'abc' }],
      badEntries: 3,
    });
  });

  it('has no ids longer than any of a panel', () => {
    const long = 'a'.repeat(65);
    const entries = [
      serverEntry({ identifier: long, uuid: long }),
      serverEntry({ identifier: long, uuid: 'a'.repeat(64) }),
      serverEntry({ identifier: 'ab', uuid: long }),
    ];
    expect(decodeListingPage(listingPage(entries), 100)).toMatchObject({
      servers: [
        { identifier: 'aaaaaaaa', uuid: 'a'.repeat(64) },
        { identifier: 'ab', uuid: 'ab' },
      ],
      badEntries: 1,
    });
  });

  it('has as many entries as requested, and the others count as bad', () => {
    const entries = Array.from({ length: 5 }, (_, n) =>
      serverEntry({ identifier: `server${n}`, uuid: `uuid-${n}` }),
    );
    const page = decodeListingPage(listingPage([null, ...entries]), 3);
    expect(page.servers.map(({ identifier }) => identifier)).toEqual(['server0', 'server1']);
    expect(page.badEntries).toBe(4);
  });

  it.each([
    [undefined, 1],
    ['7', 1],
    [-1, 1],
    [2.5, 2],
    [1e9, 10_000],
  ])('reads total_pages %j as %i', (said, totalPages) => {
    expect(decodeListingPage(listingPage([], said), 100).totalPages).toBe(totalPages);
  });
});

const backupsPage = (data: unknown[], meta: unknown = {}) => ({ object: 'list', data, meta });
const backupEntry = (attributes: object) => ({ object: 'backup', attributes });
const COMPLETED = { is_successful: true, completed_at: '2026-11-20T04:00:30+00:00', bytes: 1_024 };
// As in the panels' source code, a failed backup keeps only its name, and is unlocked.
const FAILED = {
  uuid: '904df120-a66f-4375-a1ac-8ad77f8f4d31',
  is_successful: false,
  is_locked: false,
  name: 'Backup at 2026-11-20 04:00:00',
  ignored_files: [],
  checksum: null,
  bytes: 0,
  created_at: '2026-11-20T04:00:00+00:00',
  completed_at: '2026-11-20T04:00:30+00:00',
};
const COMPLETED_AT_MS = Date.UTC(2026, 10, 20, 4, 0, 30);

describe('decodeSchedules', () => {
  const SCHEDULE = {
    id: 7,
    name: 'Restart',
    is_active: true,
    is_processing: false,
    last_run_at: '2026-11-20T04:00:00+00:00',
    next_run_at: '2026-11-21T05:00:00+01:00',
    relationships: { tasks: { data: [{}] } },
  };
  const read = (attributes: unknown) =>
    decodeSchedules({ data: [{ object: 'server_schedule', attributes }] });
  const schedule = {
    id: 7,
    name: 'Restart',
    isDue: true,
    isProcessing: false,
    lastRunMs: Date.UTC(2026, 10, 20, 4),
    nextRunMs: Date.UTC(2026, 10, 21, 4),
  };

  it.each([
    ['one that runs', {}, {}],
    ['one that is being processed', { is_processing: true }, { isProcessing: true }],
    ['one that never ran', { last_run_at: null }, { lastRunMs: undefined }],
    ['an inactive one', { is_active: false }, { isDue: false }],
    ['one without tasks', { relationships: { tasks: { data: [] } } }, { isDue: false }],
    ['one whose tasks are not in the response', { relationships: undefined }, {}],
    ['one with an unusable time', { next_run_at: 'soon' }, { nextRunMs: undefined }],
  ])('reads %s', (_what, changes, expected) => {
    expect(read({ ...SCHEDULE, ...changes })).toEqual([{ ...schedule, ...expected }]);
  });

  it.each([[null], [{ ...SCHEDULE, id: '7' }], [{ ...SCHEDULE, name: '' }]])(
    'leaves out %j',
    (attributes) => {
      expect(read(attributes)).toEqual([]);
    },
  );
});

describe('decodeNodesPage', () => {
  const node = (attributes: object) => ({ object: 'node', attributes });

  it('has as many nodes as requested', () => {
    const data = Array.from({ length: 101 }, (_, n) => node({ name: `node-${n}` }));
    expect(decodeNodesPage({ data }).nodes).toHaveLength(100);
  });

  it('reads maintenance, and a limit of allocations that is none', () => {
    const attributes = {
      name: 'fra-1',
      maintenance_mode: true,
      disk_overallocate: -1,
      allocated_resources: { disk: 0 },
    };
    expect(decodeNodesPage({ data: [node(attributes)] }).nodes).toEqual([
      {
        name: 'fra-1',
        maintenance: 1,
        disk_overallocation_ratio: Number.POSITIVE_INFINITY,
        disk_allocated_bytes: 0,
      },
    ]);
  });

  it('reads the CPU in cores', () => {
    const attributes = { name: 'fra-1', cpu: 1_600, cpu_overallocate: 25, allocated_resources: { cpu: 350 } };
    expect(decodeNodesPage({ data: [node(attributes)] }).nodes).toEqual([
      {
        name: 'fra-1',
        maintenance: 0,
        cpu_cores: 16,
        cpu_allocated_cores: 3.5,
        cpu_overallocation_ratio: 0.25,
      },
    ]);
  });

  it('leaves out what is unlimited or unusable, and nodes without a name', () => {
    const attributes = {
      name: 'fra-1',
      memory: 0,
      disk: '7',
      disk_overallocate: -2,
      allocated_resources: [],
    };
    const { nodes } = decodeNodesPage({ data: [node(attributes), node({ memory: 1 }), null] });
    expect(nodes).toEqual([{ name: 'fra-1', maintenance: 0 }]);
  });
});

describe('decodeBackupsPage', () => {
  it.each([
    ['a completed backup', COMPLETED, { isSuccessful: true, bytes: 1_024 }],
    ['an empty backup', { ...COMPLETED, bytes: 0 }, { isSuccessful: true, bytes: 0 }],
    ['a backup without a size', { ...COMPLETED, bytes: '7' }, { isSuccessful: true }],
    ['a backup with an impossible size', { ...COMPLETED, bytes: -1 }, { isSuccessful: true }],
    ['a failed backup', FAILED, { isSuccessful: false, bytes: 0 }],
    ['a failed backup without a size', { ...FAILED, bytes: null }, { isSuccessful: false }],
  ])('reads %s', (_what, attributes, backup) => {
    expect(decodeBackupsPage(backupsPage([backupEntry(attributes)]))).toEqual({
      backups: [{ completedAtMs: COMPLETED_AT_MS, ...backup }],
      totalPages: 1,
    });
  });

  it.each([
    ['in progress', { ...FAILED, completed_at: null }],
    ['in progress on a panel that assumes success', { ...COMPLETED, completed_at: null }],
    ['without an outcome', { completed_at: COMPLETED.completed_at }],
    ['with an outcome that is not a boolean', { ...COMPLETED, is_successful: 0 }],
    ['that failed without a time', { ...FAILED, completed_at: '' }],
    ['completed without a time', { ...COMPLETED, completed_at: 'soon' }],
  ])('skips a backup %s', (_what, attributes) => {
    expect(decodeBackupsPage(backupsPage([backupEntry(attributes), null, 7])).backups).toEqual([]);
  });

  it('has at most 50 backups', () => {
    const entries = Array.from({ length: 51 }, () => backupEntry(COMPLETED));
    expect(decodeBackupsPage(backupsPage(entries)).backups).toHaveLength(50);
  });

  it('reads the number of pages', () => {
    expect(decodeBackupsPage(backupsPage([], { pagination: { total_pages: 4 } })).totalPages).toBe(4);
  });
});
