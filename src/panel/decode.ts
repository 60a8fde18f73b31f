import { decodeJwt } from 'jose/jwt/decode';
import type { Sample } from '../domain/sample.ts';
import { parseServerState } from '../domain/state.ts';
import { asFields, asText, type Fields, ShapeError } from './fields.ts';

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

interface WireNetwork {
  readonly rx_bytes?: unknown;
  readonly tx_bytes?: unknown;
}

interface WireDisk {
  readonly read_bytes?: unknown;
  readonly write_bytes?: unknown;
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

/** Counts the fields that could not be used. */
interface Tally {
  bad: number;
}

/**
 * The sample in the payload of a `stats` event. Never throws: a field that can't be used is left out and
 * counted, one that wasn't sent is left out.
 */
export function decodeStats(payload: unknown): DecodedStats {
  const sample: MutableSample = {};
  const tally: Tally = { bad: 0 };
  const stats: WireStats | undefined = asFields(payload);
  if (stats === undefined) return { sample, badFields: 1 };
  putState(sample, stats.state, tally);
  putMemory(sample, stats.memory_bytes, tally);
  // 0 is what a server says that was never started: no limit is known.
  const memoryLimitBytes =
    stats.memory_limit_bytes === 0 ? undefined : quantity(stats.memory_limit_bytes, tally);
  if (memoryLimitBytes !== undefined) sample.memoryLimitBytes = memoryLimitBytes;
  putCores(sample, stats.cpu_absolute, tally);
  putDisk(sample, stats.disk_bytes, tally);
  const network: WireNetwork | undefined = nested(stats.network, tally);
  putNetwork(sample, network?.rx_bytes, network?.tx_bytes, tally);
  const disk: WireDisk | undefined = nested(stats.disk_io, tally);
  const diskReadBytes = quantity(disk?.read_bytes, tally);
  if (diskReadBytes !== undefined) sample.diskReadBytes = diskReadBytes;
  const diskWrittenBytes = quantity(disk?.write_bytes, tally);
  if (diskWrittenBytes !== undefined) sample.diskWrittenBytes = diskWrittenBytes;
  putUptime(sample, stats.uptime, tally);
  return { sample, badFields: tally.bad };
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
  const tally: Tally = { bad: badFlag };
  putState(sample, state, tally);
  const wire: WireResources | undefined = nested(resources, tally);
  putMemory(sample, wire?.memory_bytes, tally);
  putCores(sample, wire?.cpu_absolute, tally);
  putDisk(sample, wire?.disk_bytes, tally);
  putNetwork(sample, wire?.network_rx_bytes, wire?.network_tx_bytes, tally);
  putUptime(sample, wire?.uptime, tally);
  return { sample, suspended, badFields: tally.bad };
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

// Each field is set by name: a name that is only known at run time costs a look-up for every field of every frame.
function putMemory(sample: MutableSample, value: unknown, tally: Tally): void {
  const memoryBytes = quantity(value, tally);
  if (memoryBytes !== undefined) sample.memoryBytes = memoryBytes;
}

// In steps of the wire's own: 365.479 divided by 100 would be 3.6547899999999998.
function putCores(sample: MutableSample, value: unknown, tally: Tally): void {
  const percent = quantity(value, tally);
  if (percent !== undefined) sample.cpuCores = Math.round(percent * STEPS_PER_PERCENT) / STEPS_PER_CORE;
}

function putDisk(sample: MutableSample, value: unknown, tally: Tally): void {
  const diskBytes = quantity(value, tally);
  if (diskBytes !== undefined) sample.diskBytes = diskBytes;
}

function putNetwork(sample: MutableSample, received: unknown, transmitted: unknown, tally: Tally): void {
  const networkReceiveBytes = quantity(received, tally);
  if (networkReceiveBytes !== undefined) sample.networkReceiveBytes = networkReceiveBytes;
  const networkTransmitBytes = quantity(transmitted, tally);
  if (networkTransmitBytes !== undefined) sample.networkTransmitBytes = networkTransmitBytes;
}

function putUptime(sample: MutableSample, value: unknown, tally: Tally): void {
  const uptimeMs = quantity(value, tally, MAX_UPTIME_MS);
  if (uptimeMs !== undefined) sample.uptimeMs = uptimeMs;
}

function putState(sample: MutableSample, word: unknown, tally: Tally): void {
  if (typeof word === 'string') sample.state = parseServerState(word);
  else if (word !== undefined) tally.bad += 1;
}

/** A number that can be used; undefined for one that wasn't sent, and for one that can't, which is counted. */
function quantity(value: unknown, tally: Tally, most = Number.MAX_SAFE_INTEGER): number | undefined {
  if (value === undefined) return undefined;
  // Adding 0 turns the -0 that JSON can carry into 0.
  if (typeof value === 'number' && value >= 0 && value <= most) return value + 0;
  tally.bad += 1;
  return undefined;
}

/** The object in a field; undefined for one that wasn't sent, and for what is none, which is counted. */
function nested(value: unknown, tally: Tally): Fields | undefined {
  const fields = asFields(value);
  if (fields === undefined && value !== undefined) tally.bad += 1;
  return fields;
}
