// The power states of game servers.

/** The power states of game servers in display order: the values of the label `state`. */
export const SERVER_STATES = ['offline', 'starting', 'running', 'stopping', 'unknown'] as const;

export type ServerState = (typeof SERVER_STATES)[number];

/** Is the server off, and not running, in transition or unknown? */
export function isOff(state: ServerState): boolean {
  return state === 'offline';
}

/** Is the server running, or in transition? */
export function isOn(state: ServerState): boolean {
  return !isOff(state) && state !== 'unknown';
}
