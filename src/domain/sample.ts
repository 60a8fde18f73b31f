import type { ServerState } from './state.ts';

/**
 * What one `stats` frame or one resources answer says of a server, in base units. A field that the panel
 * didn't send, or sent in a form that can't be used, is absent.
 */
export interface Sample {
  readonly state?: ServerState;
  readonly memoryBytes?: number;
  readonly memoryLimitBytes?: number;
  /** 1 = one core; the wire says 100 for it. */
  readonly cpuCores?: number;
  readonly diskBytes?: number;
  /** Cumulative since the server's start, as are the three below. */
  readonly networkReceiveBytes?: number;
  readonly networkTransmitBytes?: number;
  readonly diskReadBytes?: number;
  readonly diskWrittenBytes?: number;
  readonly uptimeMs?: number;
}

/** How a sample came: pushed over the console socket, or asked of the resources endpoint. */
export type SampleSource = 'socket' | 'poll';
