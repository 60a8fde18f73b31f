// Converts the problem of one server's call to the problem of the panel, path, node or consoles
// that cause it. `panel/health/blame.ts` decides when one of these is blamed.

import type { Problem } from '../domain/problems.ts';
import type { ApiEndpoint } from '../domain/telemetry.ts';
import { CAUSES } from './causes.ts';

/** A subject that can cause failures: the panel, one of its paths, consoles, or a node. */
export type Blamed = 'panel' | ApiEndpoint | 'consoles' | 'node';

/**
 * The problem of a blamed subject, from the problem of one server's call; pure.
 *
 * | subject | problem of the call | problem of the subject |
 * |---|---|---|
 * | the consoles | any | the account lacks the permission |
 * | a node | it doesn't know the server | it has lost its servers |
 * | a node | the panel's own error | the node's error |
 * | the panel, or a path | 404 | there is no panel at this address |
 * | the panel, or a path | no response, possibly because of the node | no response |
 * | the panel | 401 | the key is rejected |
 * | the server list | the key is rejected | the account may not read the list |
 */
export function outageProblem(blamed: Blamed, problem: Problem): Problem {
  const { cause, detail } = problem;
  if (blamed === 'consoles') return { cause: 'key_console_permission', detail };
  if (blamed === 'node' && cause === 'server_not_on_node') return { cause: 'node_lost_servers', detail };
  if (blamed === 'node') {
    const isOfNode = CAUSES[cause].scope === 'node';
    return isOfNode ? problem : { cause: 'node_error', detail: `for servers of this node only: ${detail}` };
  }
  if (cause === 'not_found') return { ...problem, cause: 'not_a_panel' };
  if (cause === 'node_silent') return { ...problem, cause: 'timeout' };
  if (blamed === 'panel' && cause === 'unauthorized') return { cause: 'key_refused', detail };
  return blamed === 'listing' && cause === 'key_refused' ? { ...problem, cause: 'listing_refused' } : problem;
}
