/** Every value of the `state` label, in the order in which they are shown. */
export const SERVER_STATES = ['offline', 'starting', 'running', 'stopping', 'stopped', 'unknown'] as const;

/** The power state of a game server; `unknown` where the panel's word is none that we know. */
export type ServerState = (typeof SERVER_STATES)[number];

const KNOWN: ReadonlySet<string> = new Set(SERVER_STATES);

/** The state that a word on the wire stands for; `unknown` for any other word. */
export function parseServerState(word: string): ServerState {
  return KNOWN.has(word) ? (word as ServerState) : 'unknown';
}

/** Is the server off, as opposed to on, on its way, or not known? */
export function isOff(state: ServerState): boolean {
  return state === 'offline' || state === 'stopped';
}
