type NumberArray = Float32Array | Float64Array | Uint8Array;

/** Few enough that the arrays of removed servers keep little memory from being freed. */
const ARRAYS_PER_BUFFER = 16;

/**
 * Arrays of one length, cut from larger buffers and filled with NaN, which is 0 in an array of bytes: with separate
 * buffers, each of 10,000 servers would need about 300 more bytes.
 */
export class NumberPool<Numbers extends NumberArray> {
  readonly #create: (length: number) => Numbers;
  readonly #length: number;
  #rest: Numbers | undefined;

  constructor(create: (length: number) => Numbers, length: number) {
    this.#create = create;
    this.#length = length;
  }

  take(): Numbers {
    const rest = this.#rest ?? (this.#create(ARRAYS_PER_BUFFER * this.#length).fill(Number.NaN) as Numbers);
    this.#rest = rest.length > this.#length ? (rest.subarray(this.#length) as Numbers) : undefined;
    return rest.subarray(0, this.#length) as Numbers;
  }
}
