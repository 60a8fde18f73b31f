// A sample: the values that a panel or a node reports about a server at one instant.

import type { ServerState } from './power-states.ts';

/**
 * How a sample was collected: received over the console socket, or requested from the resources
 * endpoint.
 */
export type SampleSource = 'socket' | 'poll';

/**
 * The content of one `stats` frame or resources response, in base units; NaN stands for an unusable
 * value. Decoders reuse the object: a new one for each of 10,000 frames a second would cause too
 * much garbage (bench/RESULTS.md).
 */
export class Sample {
  state: ServerState | undefined;
  memoryBytes = Number.NaN;
  memoryLimitBytes = Number.NaN;
  /** 1 is one core, which is 100 on the wire. */
  cpuCores = Number.NaN;
  diskBytes = Number.NaN;
  /** Cumulative since the server's start, like the three below. */
  networkReceiveBytes = Number.NaN;
  networkTransmitBytes = Number.NaN;
  diskReadBytes = Number.NaN;
  diskWrittenBytes = Number.NaN;
  uptimeMs = Number.NaN;
  /** An unknown state as it appears on the wire. */
  unknownState: string | undefined;
  /** Undefined before the first sample. */
  source: SampleSource | undefined;
  /**
   * In monotonic milliseconds, like the earliest instant at which the panel can have measured it.
   */
  receivedAt = Number.NaN;
  measuredFrom = Number.NaN;

  arrived(source: SampleSource, receivedAt: number, measuredFrom: number): void {
    this.source = source;
    this.receivedAt = receivedAt;
    this.measuredFrom = measuredFrom;
  }

  /**
   * Copies all fields of another sample. They are listed by name, because a loop costs a lookup for
   * each field.
   */
  copy(other: Sample): void {
    this.state = other.state;
    this.memoryBytes = other.memoryBytes;
    this.memoryLimitBytes = other.memoryLimitBytes;
    this.cpuCores = other.cpuCores;
    this.diskBytes = other.diskBytes;
    this.networkReceiveBytes = other.networkReceiveBytes;
    this.networkTransmitBytes = other.networkTransmitBytes;
    this.diskReadBytes = other.diskReadBytes;
    this.diskWrittenBytes = other.diskWrittenBytes;
    this.uptimeMs = other.uptimeMs;
    this.unknownState = other.unknownState;
    this.source = other.source;
    this.receivedAt = other.receivedAt;
    this.measuredFrom = other.measuredFrom;
  }

  clear(): void {
    this.copy(EMPTY);
  }

  /**
   * Does the daemon lack statistics about a server that is on? It then sends 0 for everything but
   * the disk (environment/docker/stats.go and server/resources.go of Wings).
   */
  get hasNoUsage(): boolean {
    const isUp = this.state === 'running' || this.state === 'stopping';
    return isUp && this.uptimeMs === 0 && this.memoryBytes === 0 && this.cpuCores === 0;
  }

  /** Clears all values that a daemon without statistics reports as 0. */
  forgetUsage(): void {
    this.memoryBytes = Number.NaN;
    this.memoryLimitBytes = Number.NaN;
    this.cpuCores = Number.NaN;
    this.networkReceiveBytes = Number.NaN;
    this.networkTransmitBytes = Number.NaN;
    this.diskReadBytes = Number.NaN;
    this.diskWrittenBytes = Number.NaN;
    this.uptimeMs = Number.NaN;
  }
}

const EMPTY = /* @__PURE__ */ new Sample();
