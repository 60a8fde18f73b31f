import type { Limit, Limits } from '../domain/server.ts';
import { asFields, asText, type Fields, ShapeError } from './fields.ts';
import { pageCount } from './page-count.ts';

/** One server as the panel's listing describes it. */
export interface ListedServer {
  /** The short id. */
  readonly identifier: string;
  readonly uuid: string;
  readonly name: string;
  readonly node?: string;
  readonly egg?: string;
  /** The panel's word where it has one, as `installing` or `restoring_backup`. */
  readonly status?: string;
  readonly suspended: boolean;
  readonly installing: boolean;
  readonly transferring: boolean;
  readonly underMaintenance: boolean;
  readonly restoring: boolean;
  /** The panel allows it no backups. */
  readonly withoutBackups: boolean;
  readonly limits: Limits;
}

/** One page of the listing. */
export interface ListingPage {
  readonly servers: readonly ListedServer[];
  readonly totalPages: number;
  /** Entries that name no server and were left out. */
  readonly badEntries: number;
}

const BYTES_PER_MIB = 1_048_576;
const PERCENT_PER_CORE = 100;

/**
 * The servers on one page of the listing, in the panel's order.
 *
 * @throws ShapeError where the body holds no list
 */
export function decodeListingPage(body: unknown): ListingPage {
  const page = asFields(body);
  const data = page?.['data'];
  if (!Array.isArray(data)) throw new ShapeError('expected an array "data"');
  const servers = data.map(decodeEntry).filter((server) => server !== undefined);
  return {
    servers,
    totalPages: pageCount(page),
    badEntries: data.length - servers.length,
  };
}

function decodeEntry(entry: unknown): ListedServer | undefined {
  const attributes = asFields(asFields(entry)?.['attributes']);
  const identifier = asText(attributes?.['identifier']);
  const uuid = asText(attributes?.['uuid']);
  if (attributes === undefined || identifier === undefined || uuid === undefined) return undefined;
  const status = asText(attributes['status']);
  const node = asText(attributes['node']);
  const egg = eggName(attributes);
  return {
    identifier,
    uuid,
    name: asText(attributes['name']) ?? identifier,
    ...(node !== undefined && { node }),
    ...(egg !== undefined && { egg }),
    ...(status !== undefined && { status }),
    suspended: attributes['is_suspended'] === true || status === 'suspended',
    // Panels hold a server whose installation failed as they hold one that is being installed.
    installing:
      attributes['is_installing'] === true || status === 'installing' || status === 'install_failed',
    transferring: attributes['is_transferring'] === true,
    underMaintenance: attributes['is_node_under_maintenance'] === true,
    restoring: status === 'restoring_backup',
    withoutBackups: asFields(attributes['feature_limits'])?.['backups'] === 0,
    limits: decodeLimits(asFields(attributes['limits'])),
  };
}

function eggName(attributes: Fields): string | undefined {
  const egg = asFields(asFields(attributes['relationships'])?.['egg']);
  return asText(asFields(egg?.['attributes'])?.['name']);
}

function decodeLimits(limits: Fields | undefined): Limits {
  const memoryBytes = limit(limits?.['memory'], BYTES_PER_MIB);
  const diskBytes = limit(limits?.['disk'], BYTES_PER_MIB);
  const cpuCores = limit(limits?.['cpu'], 1 / PERCENT_PER_CORE);
  const swapBytes = swapLimit(limits?.['swap']);
  const ioWeight = limit(limits?.['io'], 1);
  return {
    ...(memoryBytes !== undefined && { memoryBytes }),
    ...(diskBytes !== undefined && { diskBytes }),
    ...(cpuCores !== undefined && { cpuCores }),
    ...(swapBytes !== undefined && { swapBytes }),
    ...(typeof ioWeight === 'number' && { ioWeight }),
  };
}

/** The wire says 0 for unlimited. */
function limit(value: unknown, basePerUnit: number): Limit | undefined {
  if (typeof value !== 'number' || !(value >= 0)) return undefined;
  if (value === 0) return 'unlimited';
  const inBase = value * basePerUnit;
  return inBase <= Number.MAX_SAFE_INTEGER ? inBase : undefined;
}

/** For swap the wire says -1 for unlimited, and 0 for none. */
function swapLimit(value: unknown): Limit | undefined {
  if (value === -1) return 'unlimited';
  return value === 0 ? 0 : limit(value, BYTES_PER_MIB);
}
