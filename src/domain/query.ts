/** How a game server is queried for its players. */
export interface QuerySettings {
  /** A type name of the query library, such as `minecraft`. */
  readonly type: string;
  /**
   * `host:port`, or a host alone to use the port of the default allocation; if absent, the whole default allocation. IPv6 in
   * brackets.
   */
  readonly address?: string;
  readonly intervalMs: number;
  /** The type follows from the egg, so the game may not respond to queries at all. */
  readonly isGuess?: true;
}
