import { decodeJwt } from 'jose';
import type { Sample } from '../domain/sample.ts';
import { parseServerState } from '../domain/state.ts';
import { asFields, asText, ShapeError } from './fields.ts';

/** A sample, and how many of the fields that the panel sent could not be used. */
export interface DecodedStats {
  readonly sample: Sample;
  readonly badFields: number;
}

/** What the resources endpoint says of a server. */
export interface Resources {
  /** Undefined where the panel has no data, which is not the same as zeros. */
  readonly sample: Sample | undefined;
  readonly suspended: boolean;
  readonly badFields: number;
}

/** What it takes to open a server's console socket. */
export interface Credentials {
  /** A secret: it must appear in no log, error or page. */
  readonly token: string;
  readonly socketUrl: string;
  /** How long the token lives from its receipt, in milliseconds. */
  readonly lifetimeMs: number;
}

/** The contract says 10 to 15 minutes; the shorter is assumed of a token that doesn't tell. */
const DEFAULT_LIFETIME_MS = 600_000;

/** A token that claims more is renewed daily all the same. */
const MAX_LIFETIME_MS = 86_400_000;

/** The far end drops an auth frame of 4,096 bytes or more without a word; this leaves room for what surrounds the token. */
const MAX_TOKEN_BYTES = 4_000;

/** A hundred years: what claims to have run for longer is no uptime, and would have started before Unix time. */
const MAX_UPTIME_MS = 100 * 365 * 86_400_000;

/** The wire counts CPU in percent of one core, to three decimals. */
const STEPS_PER_PERCENT = 1_000;
const STEPS_PER_CORE = 100_000;

interface WireStats {
  readonly memory_bytes?: unknown;
  readonly memory_limit_bytes?: unknown;
  readonly cpu_absolute?: unknown;
  readonly disk_bytes?: unknown;
  readonly network?: unknown;
  readonly disk_io?: unknown;
  readonly uptime?: unknown;
  readonly state?: unknown;
}

interface WireResources {
  readonly memory_bytes?: unknown;
  readonly cpu_absolute?: unknown;
  readonly disk_bytes?: unknown;
  readonly network_rx_bytes?: unknown;
  readonly network_tx_bytes?: unknown;
  readonly uptime?: unknown;
}

type MutableSample = { -readonly [K in keyof Sample]: Sample[K] };
type Quantity = Exclude<keyof Sample, 'state'>;

/**
 * The sample in the payload of a `stats` event. Never throws: a field that can't be used is left out and
 * counted, one that wasn't sent is left out.
 */
export function decodeStats(payload: unknown): DecodedStats {
  const stats: WireStats | undefined = asFields(payload);
  const sample: MutableSample = {};
  if (stats === undefined) return { sample, badFields: 1 };
  let bad = putState(sample, stats.state);
  bad += put(sample, 'memoryBytes', stats.memory_bytes);
  // 0 is what a server says that was never started: no limit is known.
  if (stats.memory_limit_bytes !== 0) bad += put(sample, 'memoryLimitBytes', stats.memory_limit_bytes);
  bad += putCores(sample, stats.cpu_absolute);
  bad += put(sample, 'diskBytes', stats.disk_bytes);
  bad += putPair(
    sample,
    stats.network,
    ['networkReceiveBytes', 'rx_bytes'],
    ['networkTransmitBytes', 'tx_bytes'],
  );
  bad += putPair(sample, stats.disk_io, ['diskReadBytes', 'read_bytes'], ['diskWrittenBytes', 'write_bytes']);
  bad += putUptime(sample, stats.uptime);
  return { sample, badFields: bad };
}

/**
 * The sample in an answer of the resources endpoint; `missing` in place of a state means no data.
 *
 * @throws ShapeError where the body holds no resources at all
 */
export function decodeResources(body: unknown): Resources {
  const attributes = asFields(asFields(body)?.['attributes']);
  if (attributes === undefined) throw new ShapeError('expected an object with "attributes"');
  const { current_state: state, is_suspended: isSuspended, resources } = attributes;
  if (state === undefined && resources === undefined) {
    throw new ShapeError('expected "current_state" and "resources" in "attributes"');
  }
  const suspended = isSuspended === true;
  const badFlag = isSuspended === undefined || typeof isSuspended === 'boolean' ? 0 : 1;
  if (state === 'missing') return { sample: undefined, suspended, badFields: badFlag };

  const sample: MutableSample = {};
  const badState = putState(sample, state);
  return { sample, suspended, badFields: badFlag + badState + putResources(sample, resources) };
}

function putResources(sample: MutableSample, resources: unknown): number {
  if (resources === undefined) return 0;
  const wire: WireResources | undefined = asFields(resources);
  if (wire === undefined) return 1;
  return (
    put(sample, 'memoryBytes', wire.memory_bytes) +
    putCores(sample, wire.cpu_absolute) +
    put(sample, 'diskBytes', wire.disk_bytes) +
    put(sample, 'networkReceiveBytes', wire.network_rx_bytes) +
    put(sample, 'networkTransmitBytes', wire.network_tx_bytes) +
    putUptime(sample, wire.uptime)
  );
}

/**
 * The token and the address in an answer of the credentials endpoint.
 *
 * @throws ShapeError where one of them is missing
 */
export function decodeCredentials(body: unknown): Credentials {
  const data = asFields(asFields(body)?.['data']);
  const token = asText(data?.['token']);
  const socketUrl = asText(data?.['socket']);
  if (token === undefined || socketUrl === undefined) {
    throw new ShapeError('expected "token" and "socket" in "data"');
  }
  const bytes = Buffer.byteLength(JSON.stringify(token));
  if (bytes > MAX_TOKEN_BYTES)
    throw new ShapeError(`expected a token of at most ${MAX_TOKEN_BYTES} bytes, got ${bytes}`);
  return { token, socketUrl, lifetimeMs: tokenLifetimeMs(token) };
}

// Only the difference of the two claims is used: `exp` alone would have to be held against this machine's
// wall clock, which may be wrong or stepped.
function tokenLifetimeMs(token: string): number {
  const { iat, exp } = readClaims(token);
  if (typeof iat !== 'number' || typeof exp !== 'number') return DEFAULT_LIFETIME_MS;
  const lifetimeMs = (exp - iat) * 1_000;
  return lifetimeMs > 0 ? Math.min(lifetimeMs, MAX_LIFETIME_MS) : DEFAULT_LIFETIME_MS;
}

function readClaims(token: string): { readonly iat?: unknown; readonly exp?: unknown } {
  try {
    return decodeJwt(token);
  } catch {
    return {};
  }
}

function putUptime(sample: MutableSample, value: unknown): 0 | 1 {
  if (typeof value === 'number' && value > MAX_UPTIME_MS) return 1;
  return put(sample, 'uptimeMs', value);
}

// In steps of the wire's own: 365.479 divided by 100 would be 3.6547899999999998.
function putCores(sample: MutableSample, value: unknown): 0 | 1 {
  const bad = put(sample, 'cpuCores', value);
  if (sample.cpuCores !== undefined) {
    sample.cpuCores = Math.round(sample.cpuCores * STEPS_PER_PERCENT) / STEPS_PER_CORE;
  }
  return bad;
}

/** Sets the field if the value can be used; gives 1 for a value that can't, to be counted. */
function put(sample: MutableSample, field: Quantity, value: unknown): 0 | 1 {
  if (value === undefined) return 0;
  if (typeof value !== 'number' || !(value >= 0 && value <= Number.MAX_SAFE_INTEGER)) return 1;
  // Adding 0 turns the -0 that JSON can carry into 0.
  sample[field] = value + 0;
  return 0;
}

function putState(sample: MutableSample, word: unknown): 0 | 1 {
  if (word === undefined) return 0;
  if (typeof word !== 'string') return 1;
  sample.state = parseServerState(word);
  return 0;
}

type NestedField = readonly [field: Quantity, wireName: string];

function putPair(sample: MutableSample, nested: unknown, first: NestedField, second: NestedField): number {
  if (nested === undefined) return 0;
  const fields = asFields(nested);
  if (fields === undefined) return 1;
  return put(sample, first[0], fields[first[1]]) + put(sample, second[0], fields[second[1]]);
}
