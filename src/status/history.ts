import { POINTS } from './protocol.ts';

/** What is kept of a server at each step; bytes a second for the last two. */
export const SERIES = ['cpuCores', 'memoryBytes', 'receiveRate', 'transmitRate'] as const;
export type Series = (typeof SERIES)[number];

/** Servers for which memory is taken at once. */
const BLOCK_SERVERS = 256;

const NUMBERS_PER_SERVER = SERIES.length * POINTS;

/**
 * The last steps of each server's charts: 960 bytes a server, in blocks, so that 10,000 of them are 40 objects. A server has a
 * slot; a slot that was released is given to the next. NaN stands for what was not known.
 */
export class HistoryStore {
  readonly #blocks: Float32Array[] = [];
  readonly #free: number[] = [];
  #used = 0;

  /** A slot in which nothing is known yet. */
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

  /** Bytes that are taken, used or not. */
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

  /** The values of the steps up to `lastStep`, the oldest first; null where nothing was known. */
  read(slot: number, series: Series, lastStep: number): (number | null)[] {
    const block = this.#blockOf(slot);
    const start = startOf(slot) + SERIES.indexOf(series) * POINTS;
    return Array.from({ length: POINTS }, (_, age) => {
      const value = block[start + ((lastStep + 1 + age) % POINTS)] ?? Number.NaN;
      return Number.isNaN(value) ? null : value;
    });
  }

  #blockOf(slot: number): Float32Array {
    const block = this.#blocks[Math.floor(slot / BLOCK_SERVERS)];
    if (block === undefined) throw new RangeError(`no slot ${slot} was allocated`);
    return block;
  }
}

function startOf(slot: number): number {
  return (slot % BLOCK_SERVERS) * NUMBERS_PER_SERVER;
}
