// The values that a panel or a node reports about a server at one instant.

import type { ServerState } from './power-states.ts';

/**
 * How a sample was collected: pushed over the console socket, or requested from the resources
 * endpoint.
 */
export type SampleSource = 'socket' | 'poll';

/**
 * The content of one `stats` frame or resources response, in base units; NaN stands for a value
 * that can't be used. Decoders fill the same object each time: a new one for each of 10,000 frames
 * a second would be too much garbage (bench/RESULTS.md).
 */
export class Sample {
  state: ServerState | undefined;
  memoryBytes = Number.NaN;
  memoryLimitBytes = Number.NaN;
  /** 1 = one core, which is 100 on the wire. */
  cpuCores = Number.NaN;
  diskBytes = Number.NaN;
  /** Cumulative since the server's start, as are the three below. */
  networkReceiveBytes = Number.NaN;
  networkTransmitBytes = Number.NaN;
  diskReadBytes = Number.NaN;
  diskWrittenBytes = Number.NaN;
  uptimeMs = Number.NaN;
  /** The text on the wire for an unknown state. */
  unknownState: string | undefined;
  /** Undefined until it arrives. */
  source: SampleSource | undefined;
  /** Monotonic milliseconds, as is the earliest instant at which the panel can have measured it. */
  receivedAt = Number.NaN;
  measuredFrom = Number.NaN;

  arrived(source: SampleSource, receivedAt: number, measuredFrom: number): void {
    this.source = source;
    this.receivedAt = receivedAt;
    this.measuredFrom = measuredFrom;
  }

  /**
   * Takes over everything from another one; by name, because a loop over the names costs a lookup
   * for each field.
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
   * Is it of a server that is on, but about which the daemon has no statistics? It then sends 0 for
   * everything but the disk (environment/docker/ stats.go and server/resources.go of Wings).
   */
  get hasNoUsage(): boolean {
    const isUp = this.state === 'running' || this.state === 'stopping';
    return isUp && this.uptimeMs === 0 && this.memoryBytes === 0 && this.cpuCores === 0;
  }

  /** Forgets everything that a daemon without statistics reports as 0. */
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
