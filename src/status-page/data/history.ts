import type { Sample } from '../../domain/server.ts';
import { POINTS } from './protocol.ts';

/** The values kept of a server at each step; the last two in bytes per second. */
export const SERIES = ['cpuCores', 'memoryBytes', 'receiveRate', 'transmitRate'] as const;
export type Series = (typeof SERIES)[number];

/** The number of servers in one block of memory. */
const BLOCK_SERVERS = 256;

const NUMBERS_PER_SERVER = SERIES.length * POINTS;

/**
 * The last steps of each server's charts: 960 bytes per server, in blocks, so that 10,000 servers need 40 objects. Each server
 * has a slot; released slots are reused. NaN stands for unknown.
 */
export class HistoryStore {
  readonly #blocks: Float32Array[] = [];
  readonly #free: number[] = [];
  #used = 0;

  /** Returns a slot without data. */
  allocate(): number {
    const slot = this.#free.pop() ?? this.#used++;
    if (this.#blocks.length * BLOCK_SERVERS <= slot) {
      this.#blocks.push(new Float32Array(BLOCK_SERVERS * NUMBERS_PER_SERVER));
    }
    const start = startOf(slot);
    this.#blockOf(slot).fill(Number.NaN, start, start + NUMBERS_PER_SERVER);
    return slot;
  }

  release(slot: number): void {
    this.#free.push(slot);
  }

  /** Allocated bytes, used or not. */
  get bytes(): number {
    return this.#blocks.length * BLOCK_SERVERS * NUMBERS_PER_SERVER * Float32Array.BYTES_PER_ELEMENT;
  }

  write(slot: number, step: number, cpu: number, memory: number, receive: number, transmit: number): void {
    const block = this.#blockOf(slot);
    const at = startOf(slot) + (step % POINTS);
    block[at] = cpu;
    block[at + POINTS] = memory;
    block[at + 2 * POINTS] = receive;
    block[at + 3 * POINTS] = transmit;
  }

  /** The values of the steps up to `lastStep`, oldest first; null if unknown. */
  read(slot: number, series: Series, lastStep: number): (number | null)[] {
    const block = this.#blockOf(slot);
    return lastPoints(block, startOf(slot) + SERIES.indexOf(series) * POINTS, lastStep);
  }

  /** The mean of the newest `count` values up to `lastStep`; NaN unless more than half of them are known. */
  mean(slot: number, series: Series, lastStep: number, count: number): number {
    const block = this.#blockOf(slot);
    const start = startOf(slot) + SERIES.indexOf(series) * POINTS;
    let [sum, known] = [0, 0];
    for (let age = 0; age < count; age += 1) {
      const value = block[start + ((lastStep + POINTS - age) % POINTS)] ?? Number.NaN;
      if (Number.isNaN(value)) continue;
      sum += value;
      known += 1;
    }
    return known * 2 > count ? sum / known : Number.NaN;
  }

  #blockOf(slot: number): Float32Array {
    const block = this.#blocks[Math.floor(slot / BLOCK_SERVERS)];
    if (block === undefined) throw new RangeError(`no slot ${slot} was allocated`);
    return block;
  }
}

/** The last steps of a chart that only few servers have. */
export class SparseHistory {
  readonly #values = new Float32Array(POINTS).fill(Number.NaN);

  write(step: number, value: number): void {
    this.#values[step % POINTS] = value;
  }

  /** The values of the steps up to `lastStep`, oldest first; null if unknown. */
  read(lastStep: number): (number | null)[] {
    return lastPoints(this.#values, 0, lastStep);
  }
}

function lastPoints(values: Float32Array, start: number, lastStep: number): (number | null)[] {
  return Array.from({ length: POINTS }, (_, age) => {
    const value = values[start + ((lastStep + 1 + age) % POINTS)] ?? Number.NaN;
    return Number.isNaN(value) ? null : value;
  });
}

function startOf(slot: number): number {
  return (slot % BLOCK_SERVERS) * NUMBERS_PER_SERVER;
}

/**
 * Network rates of one server over its last two steps: the counters at two marks are kept, and a rate spans the time from the
 * older mark to now. A rate over one second would jump, and a polled server's counters don't change between polls.
 */
export class Traffic {
  #olderAt = Number.NaN;
  #olderReceived = Number.NaN;
  #olderSent = Number.NaN;
  #newerAt = Number.NaN;
  #newerReceived = Number.NaN;
  #newerSent = Number.NaN;

  /** Keeps a sample's counters as a mark; marking the same sample twice has no effect. */
  mark(sample: Sample, sampledAt: number): void {
    if (sampledAt === this.#newerAt) return;
    const received = sample.networkReceiveBytes ?? Number.NaN;
    const sent = sample.networkTransmitBytes ?? Number.NaN;
    // Counters that decreased were reset, so earlier marks are useless.
    const isReset = received < this.#newerReceived || sent < this.#newerSent;
    this.#olderAt = isReset ? Number.NaN : this.#newerAt;
    this.#olderReceived = this.#newerReceived;
    this.#olderSent = this.#newerSent;
    this.#newerAt = sampledAt;
    this.#newerReceived = received;
    this.#newerSent = sent;
  }

  /** Forgets everything, because a rate can't span a gap. */
  clear(): void {
    this.#olderAt = Number.NaN;
    this.#newerAt = Number.NaN;
  }

  /** Bytes received per second, up to this sample; NaN if unknown. */
  receiveRate(sample: Sample, sampledAt: number): number {
    return this.#rate(sample.networkReceiveBytes, sampledAt, this.#olderReceived, this.#newerReceived);
  }

  /** Bytes sent per second, up to this sample; NaN if unknown. */
  transmitRate(sample: Sample, sampledAt: number): number {
    return this.#rate(sample.networkTransmitBytes, sampledAt, this.#olderSent, this.#newerSent);
  }

  #rate(bytes: number | undefined, at: number, older: number, newer: number): number {
    if (bytes === undefined || bytes < newer) return Number.NaN;
    const since = Number.isNaN(this.#olderAt) ? this.#newerAt : this.#olderAt;
    const from = Number.isNaN(this.#olderAt) ? newer : older;
    return at > since && bytes >= from ? ((bytes - from) * 1_000) / (at - since) : Number.NaN;
  }
}
