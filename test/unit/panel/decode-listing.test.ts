import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeListingPage } from '../../../src/panel/decode-listing.ts';
import { ShapeError } from '../../../src/panel/fields.ts';

const entry = (attributes: object) => ({ object: 'server', attributes });
const page = (data: unknown[], totalPages: unknown = 1) => ({
  object: 'list',
  data,
  meta: { pagination: { total_pages: totalPages } },
});

function problemWith(body: unknown): unknown {
  try {
    decodeListingPage(body);
    return undefined;
  } catch (error) {
    return error;
  }
}

describe('decodeListingPage', () => {
  it('reads a server with all that the field notes name', () => {
    const attributes = {
      identifier: 'd3aac109',
      uuid: 'd3aac109-e5a0-4331-b03e-3454f7e136dc',
      name: 'Survival',
      node: 'fra-1',
      status: null,
      is_suspended: false,
      is_installing: false,
      is_transferring: false,
      is_node_under_maintenance: true,
      limits: { memory: 1024, swap: -1, disk: 0, cpu: 250, io: 500 },
      feature_limits: { databases: 1, allocations: 1, backups: 0 },
      relationships: { egg: { object: 'egg', attributes: { name: 'Paper' } } },
    };
    expect(decodeListingPage(page([entry(attributes)], 3))).toEqual({
      servers: [
        {
          identifier: 'd3aac109',
          uuid: 'd3aac109-e5a0-4331-b03e-3454f7e136dc',
          name: 'Survival',
          node: 'fra-1',
          egg: 'Paper',
          suspended: false,
          installing: false,
          transferring: false,
          underMaintenance: true,
          restoring: false,
          withoutBackups: true,
          limits: {
            memoryBytes: 1_073_741_824,
            diskBytes: 'unlimited',
            cpuCores: 2.5,
            swapBytes: 'unlimited',
            ioWeight: 500,
          },
        },
      ],
      totalPages: 3,
      badEntries: 0,
    });
  });

  it.each([
    [{ status: 'suspended' }, { status: 'suspended', suspended: true, installing: false }],
    [{ status: 'installing' }, { status: 'installing', suspended: false, installing: true }],
    [{ is_installing: true }, { installing: true }],
    [{ status: 'install_failed' }, { installing: true }],
    // Panels let it be used.
    [{ status: 'reinstall_failed' }, { installing: false }],
    [{ status: 'restoring_backup' }, { status: 'restoring_backup', installing: false, restoring: true }],
    [{ feature_limits: { backups: null } }, { withoutBackups: false }],
    [{ limits: { memory: -5, disk: '1', cpu: 1e300, swap: -2, io: 0 } }, { limits: {} }],
    [{ limits: { swap: 0 } }, { limits: { swapBytes: 0 } }],
    [{ limits: { swap: 512 } }, { limits: { swapBytes: 536_870_912 } }],
    [
      { limits: null, name: '' },
      { limits: {}, name: 'ab' },
    ],
  ])('reads %j', (attributes, expected) => {
    const { servers } = decodeListingPage(page([entry({ identifier: 'ab', uuid: 'abc', ...attributes })]));
    expect(servers[0]).toMatchObject(expected);
  });

  it('leaves out and counts entries that name no server', () => {
    const entries = [null, 1, entry({ identifier: 'ab' }), entry({ identifier: 'ab', uuid: 'abc' })];
    expect(decodeListingPage(page(entries))).toMatchObject({ servers: [{ uuid: 'abc' }], badEntries: 3 });
  });

  it.each([
    [undefined, 1],
    ['7', 1],
    [-1, 1],
    [2.5, 2],
    [1e9, 10_000],
  ])('takes total_pages %j for %i', (said, totalPages) => {
    expect(decodeListingPage(page([], said)).totalPages).toBe(totalPages);
  });

  it('throws nothing but a ShapeError', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.jsonValue(),
          fc.array(fc.jsonValue()).map((data) => page(data)),
        ),
        (body) => {
          expect(problemWith(body)).toSatisfy(
            (problem) => problem === undefined || problem instanceof ShapeError,
          );
        },
      ),
    );
  });
});
