import { SampleNumbers } from '../../../domain/sample-numbers.ts';
import { parseServerState, type ServerState } from '../../../domain/server.ts';
import { type Resources, ShapeError } from '../../dialect.ts';
import { asFields, attributesOf, type Fields } from './fields.ts';

/** A hundred years: a longer value is not an uptime, and would mean a start before the Unix epoch. */
export const MAX_UPTIME_MS = 100 * 365 * 86_400_000;

/** On the wire, CPU is in percent of one core with three decimals. */
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

/** Counts the fields that could not be used. */
interface BadFieldCount {
  bad: number;
}

/**
 * Reads the payload of a `stats` event into a sample; a field that is missing or unusable is absent. Returns the number of
 * unusable fields. Never throws.
 */
export function decodeStats(payload: unknown, sample: SampleNumbers): number {
  sample.clear();
  const count: BadFieldCount = { bad: 0 };
  const stats: WireStats | undefined = asFields(payload);
  if (stats === undefined) return 1;
  sample.state = stateOf(stats.state, count);
  sample.memoryBytes = quantity(stats.memory_bytes, count);
  // A server that was never started reports 0: its limit is unknown.
  sample.memoryLimitBytes = quantity(stats.memory_limit_bytes, count) || Number.NaN;
  sample.cpuCores = coresOf(quantity(stats.cpu_absolute, count));
  sample.diskBytes = quantity(stats.disk_bytes, count);
  const network: WireNetwork | undefined = nested(stats.network, count);
  sample.networkReceiveBytes = quantity(network?.rx_bytes, count);
  sample.networkTransmitBytes = quantity(network?.tx_bytes, count);
  const disk: WireDisk | undefined = nested(stats.disk_io, count);
  sample.diskReadBytes = quantity(disk?.read_bytes, count);
  sample.diskWrittenBytes = quantity(disk?.write_bytes, count);
  sample.uptimeMs = quantity(stats.uptime, count, MAX_UPTIME_MS);
  return count.bad;
}

/**
 * The sample in a response of the resources endpoint; a state of `missing` means no data.
 *
 * @throws ShapeError if the body holds no resources at all
 */
export function decodeResources(body: unknown): Resources {
  const attributes = attributesOf(body);
  if (attributes === undefined) throw new ShapeError('expected an object with "attributes"');
  const { current_state: state, is_suspended: isSuspended, resources } = attributes;
  if (state === undefined && resources === undefined) {
    throw new ShapeError('expected "current_state" and "resources" in "attributes"');
  }
  const suspended = isSuspended === true;
  const badFlag = isSuspended === undefined || typeof isSuspended === 'boolean' ? 0 : 1;
  if (state === 'missing') return { sample: undefined, suspended, badFields: badFlag };

  const sample = new SampleNumbers();
  const count: BadFieldCount = { bad: badFlag };
  sample.state = stateOf(state, count);
  const wire: WireResources | undefined = nested(resources, count);
  sample.memoryBytes = quantity(wire?.memory_bytes, count);
  sample.cpuCores = coresOf(quantity(wire?.cpu_absolute, count));
  sample.diskBytes = quantity(wire?.disk_bytes, count);
  sample.networkReceiveBytes = quantity(wire?.network_rx_bytes, count);
  sample.networkTransmitBytes = quantity(wire?.network_tx_bytes, count);
  sample.uptimeMs = quantity(wire?.uptime, count, MAX_UPTIME_MS);
  return { sample: sample.toSample(), suspended, badFields: count.bad };
}

/** Computed in the wire's own steps: 365.479 divided by 100 would be 3.6547899999999998. */
export function coresOf(percent: number): number {
  return Math.round(percent * STEPS_PER_PERCENT) / STEPS_PER_CORE;
}

function stateOf(word: unknown, count: BadFieldCount): ServerState | undefined {
  if (typeof word === 'string') return parseServerState(word);
  if (word !== undefined) count.bad += 1;
  return undefined;
}

/** A usable number; NaN if it wasn't sent or is unusable, which is counted. */
function quantity(value: unknown, count: BadFieldCount, most = Number.MAX_SAFE_INTEGER): number {
  if (value === undefined) return Number.NaN;
  // Adding 0 turns -0, which JSON can carry, into 0.
  if (typeof value === 'number' && value >= 0 && value <= most) return value + 0;
  count.bad += 1;
  return Number.NaN;
}

/** The object in a field; undefined if it wasn't sent or isn't an object, which is counted. */
function nested(value: unknown, count: BadFieldCount): Fields | undefined {
  const fields = asFields(value);
  if (fields === undefined && value !== undefined) count.bad += 1;
  return fields;
}
