import { isOff, type ServerState } from '../domain/state.ts';
import type { PowerAction } from '../session/protocol.ts';

/** A power action, and what was seen of the server since it was asked for. */
export interface PowerWatch {
  readonly action: PowerAction;
  readonly state: ServerState;
  /** Was the server seen in another state than running since? A restart isn't done before. */
  readonly left: boolean;
}

/** How the server's state stands to an action that is wanted: there already, on its way, or to be asked for. */
export function powerNeed(action: PowerAction, state: ServerState): 'done' | 'wait' | 'ask' {
  switch (action) {
    case 'start':
      if (state === 'running') return 'done';
      return state === 'starting' ? 'wait' : 'ask';
    case 'stop':
      if (isOff(state)) return 'done';
      return state === 'stopping' ? 'wait' : 'ask';
    case 'kill':
      return isOff(state) ? 'done' : 'ask';
    case 'restart':
      return 'ask';
  }
}

export function watchPower(action: PowerAction, state: ServerState): PowerWatch {
  return { action, state, left: state !== 'running' };
}

/** The watch after a word on the server's state. */
export function sawState(watch: PowerWatch, state: ServerState): PowerWatch {
  return { ...watch, state, left: watch.left || (state !== 'running' && state !== 'unknown') };
}

/** Is the state reached that the action leads to? */
export function isReached({ action, state, left }: PowerWatch): boolean {
  return action === 'stop' || action === 'kill' ? isOff(state) : state === 'running' && left;
}
