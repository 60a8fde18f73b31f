/** How a game server is asked for its players. */
export interface QuerySettings {
  /** A name of the query library's, such as `minecraft`. */
  readonly type: string;
  /** `host:port`, or a host alone with the port of the default allocation; the whole default allocation where absent. IPv6 in brackets. */
  readonly address?: string;
  readonly intervalMs: number;
}
