/**
 * Network rates of one server over its last two chart steps: the counters at two marks are kept, and a rate spans the time from
 * the older mark to now. A rate over one second would jump, and a polled server's counters don't change between polls. NaN stands
 * for unknown.
 */
export class Traffic {
  #olderAt = Number.NaN;
  #olderReceived = Number.NaN;
  #olderSent = Number.NaN;
  #newerAt = Number.NaN;
  #newerReceived = Number.NaN;
  #newerSent = Number.NaN;

  /** Keeps a sample's counters as a mark. */
  mark(received: number, sent: number, sampledAt: number): void {
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

  /** Bytes received per second, up to this sample. */
  receiveRate(received: number, sampledAt: number): number {
    return this.#rate(received, sampledAt, this.#olderReceived, this.#newerReceived);
  }

  /** Bytes sent per second, up to this sample. */
  transmitRate(sent: number, sampledAt: number): number {
    return this.#rate(sent, sampledAt, this.#olderSent, this.#newerSent);
  }

  #rate(bytes: number, at: number, older: number, newer: number): number {
    const since = Number.isNaN(this.#olderAt) ? this.#newerAt : this.#olderAt;
    const from = Number.isNaN(this.#olderAt) ? newer : older;
    return bytes >= newer && at > since && bytes >= from
      ? ((bytes - from) * 1_000) / (at - since)
      : Number.NaN;
  }
}
