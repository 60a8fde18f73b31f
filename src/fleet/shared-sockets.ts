// The process's console sockets, which all panels share.

export interface SharedSockets {
  /** How many files the process may open; infinite if unknown. */
  readonly descriptors: number;
  /** The limit on open files with which every server that may stream gets a console socket. */
  readonly requiredDescriptors: number;
  /**
   * The maximum number of sockets of the process, and of each panel; infinite if all panels have as
   * many as they need.
   */
  readonly sockets: number;
  readonly part: number;
  /**
   * Sets how many sockets a panel needs. `changed` identifies the panel, and is called whenever its
   * share changes.
   */
  require(sockets: number, changed: () => void): void;
  /** Removes a panel's needs. */
  leave(changed: () => void): void;
}
