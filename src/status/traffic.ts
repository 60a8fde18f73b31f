import type { Sample } from '../domain/sample.ts';

/**
 * Network rates of one server over its last two steps: two marks of its counters are kept, and a rate reaches from the older one
 * to now. One second's rate would jump, and a poll's counters stand still between polls.
 */
export class Traffic {
  #olderAt = Number.NaN;
  #olderReceived = Number.NaN;
  #olderSent = Number.NaN;
  #newerAt = Number.NaN;
  #newerReceived = Number.NaN;
  #newerSent = Number.NaN;

  /** Keeps a sample's counters as a mark; the same sample twice is one. */
  mark(sample: Sample, sampledAt: number): void {
    if (sampledAt === this.#newerAt) return;
    const received = sample.networkReceiveBytes ?? Number.NaN;
    const sent = sample.networkTransmitBytes ?? Number.NaN;
    // Counters that fell began anew: what was before says nothing.
    const anew = received < this.#newerReceived || sent < this.#newerSent;
    this.#olderAt = anew ? Number.NaN : this.#newerAt;
    this.#olderReceived = this.#newerReceived;
    this.#olderSent = this.#newerSent;
    this.#newerAt = sampledAt;
    this.#newerReceived = received;
    this.#newerSent = sent;
  }

  /** Forgets everything: after a gap no rate follows. */
  clear(): void {
    this.#olderAt = Number.NaN;
    this.#newerAt = Number.NaN;
  }

  /** Bytes received a second, up to this sample; NaN where none follows. */
  receiveRate(sample: Sample, sampledAt: number): number {
    return this.#rate(sample.networkReceiveBytes, sampledAt, this.#olderReceived, this.#newerReceived);
  }

  /** Bytes sent a second, up to this sample; NaN where none follows. */
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
