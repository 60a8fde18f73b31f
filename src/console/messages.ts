import { isOff, type ServerState } from '../domain/state.ts';
import { encodeMessage, MAX_CLIENT_FRAME_BYTES } from '../session/protocol.ts';
import { COMMAND_PERMISSION, lacks, missingPermission } from './permissions.ts';

/** What is wrong with a command's length; undefined if nothing is. */
export function lengthProblem(command: string): string | undefined {
  try {
    encodeMessage({ event: 'send command', command });
    return undefined;
  } catch {
    return `it is too long: the node takes messages of ${MAX_CLIENT_FRAME_BYTES} bytes at most`;
  }
}

/** What is known of the server and of what we may do with it. */
export interface Standing {
  readonly state: ServerState | undefined;
  /** Undefined where the token doesn't tell. */
  readonly permissions: ReadonlySet<string> | undefined;
}

/** Why a command would not be run, were it sent: nodes drop such without a word. Undefined where nothing is known against it. */
export function commandProblem(command: string, { state, permissions }: Standing): string | undefined {
  if (lacks(permissions, COMMAND_PERMISSION)) return missingPermission(COMMAND_PERMISSION);
  if (state !== undefined && isOff(state)) return `the server is ${state}`;
  return lengthProblem(command);
}
