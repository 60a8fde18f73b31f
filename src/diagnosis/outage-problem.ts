// Turns the problem of one server's call into that of its panel, path, node or consoles. Which of
// these is blamed is decided in panel/health/suspicion.ts.

import type { Problem } from '../domain/problems.ts';
import type { ApiEndpoint } from '../domain/telemetry.ts';
import { CAUSES } from './causes.ts';

/** A subject that can cause failures: the panel, one of its paths, consoles, or a node. */
export type Blamed = 'panel' | ApiEndpoint | 'consoles' | 'node';

/**
 * The problem of the subject that causes a failure, from the problem of one server's call; pure.
 *
 * | subject | problem of the call | problem of the subject |
 * |---|---|---|
 * | the consoles | any | the account lacks the permission |
 * | a node | its servers are unknown to it | it has lost them |
 * | a node | the panel's own error | the node's error |
 * | the panel, or a path | 404 | there is no panel at this address |
 * | the panel, or a path | no response, possibly because of the node | no response |
 * | the panel | 401 | the key is refused |
 * | the server list | the key is refused | the account may not read the list |
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
