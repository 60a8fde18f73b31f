import type { RecentHistory, StopCounts } from '../../domain/reading.ts';
import type { LiveField } from './live-server.ts';
import type { PanelsStatus } from './panel-status.ts';

/** By field, its values in the order of the servers; null if unknown. */
export type FieldValues = Readonly<Partial<Record<LiveField, readonly unknown[]>>>;

/** Everything that a new viewer needs: the event `full`. */
export interface Full extends PanelsStatus {
  readonly version: string;
  /** The exporter's wall clock, in Unix seconds. */
  readonly time: number;
  /** The number of servers. */
  readonly size: number;
  /** A field that no server has is absent. */
  readonly servers: FieldValues;
}

/** What changed within a second: the event `delta`. */
export interface Delta extends Partial<PanelsStatus> {
  readonly time: number;
  /** The fields that changed in most servers, whole. */
  readonly servers: FieldValues;
  /** The other fields that changed: the places of the servers, and their new values. */
  readonly changes: Readonly<
    Partial<Record<LiveField, readonly [places: readonly number[], values: readonly unknown[]]>>
  >;
}

/** The last five minutes of one server, as returned by `api/v1/history`. */
export interface HistoryView extends RecentHistory {
  readonly panel: string;
  readonly server_id: string;
  readonly step_seconds: number;
  /** The number of stops since the exporter started, by reason. */
  readonly stops: StopCounts;
}
