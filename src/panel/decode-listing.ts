import type { Limit, Limits } from '../domain/server.ts';
import { asFields, asText, type Fields, ShapeError } from './fields.ts';

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

/** A page count beyond this is taken for nonsense: a million servers is more than any panel lists. */
const MAX_PAGES = 10_000;

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
  const pagination = asFields(asFields(page?.['meta'])?.['pagination']);
  return {
    servers,
    totalPages: pageCount(pagination?.['total_pages']),
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
    installing: attributes['is_installing'] === true || status === 'installing',
    transferring: attributes['is_transferring'] === true,
    underMaintenance: attributes['is_node_under_maintenance'] === true,
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
  return {
    ...(memoryBytes !== undefined && { memoryBytes }),
    ...(diskBytes !== undefined && { diskBytes }),
    ...(cpuCores !== undefined && { cpuCores }),
  };
}

/** The wire says 0 for unlimited. */
function limit(value: unknown, basePerUnit: number): Limit | undefined {
  if (typeof value !== 'number' || !(value >= 0)) return undefined;
  if (value === 0) return 'unlimited';
  const inBase = value * basePerUnit;
  return inBase <= Number.MAX_SAFE_INTEGER ? inBase : undefined;
}

function pageCount(value: unknown): number {
  if (typeof value !== 'number' || !(value >= 1)) return 1;
  return Math.min(Math.floor(value), MAX_PAGES);
}
