// The causes that concern one server.
import type { CauseCodes } from '../domain/problems.ts';
import { CONSOLE_GRANT, DAEMONS, panelsWith, permissionText } from '../panel/dialects/facts.ts';
import {
  type Cause,
  causes,
  LASTING_ERROR,
  LASTING_FACT,
  PASSING_FACT,
  PASSING_WARNING,
} from './cause-table.ts';

const WAIT = 'Wait until it is done; the exporter retries automatically.';

/** The panels whose paths contain the name of a daemon. */
const WITH_DAEMONS = panelsWith(({ daemons }) => daemons.length > 0);

export const SERVER_CAUSES = {
  ...causes('server', LASTING_FACT, {
    suspended: [
      'server suspended',
      'The server is suspended in the panel.',
      'Unsuspend the server in the panel. If it is meant to stay suspended, set `expect: any` for it, or exclude it (`discover.exclude`).',
    ],
    installing: [
      'server installing',
      'The server is being installed, or its installation failed.',
      `${WAIT} If it doesn't end, check the server's console in the panel, and reinstall the server.`,
    ],
    transferring: ['server being transferred', 'The server is being transferred to another node.', WAIT],
    restoring: ['backup being restored', 'A backup of the server is being restored.', WAIT],
    maintenance: [
      'node under maintenance',
      "The server's node is under maintenance, or the panel blocks the server for a reason that the exporter doesn't recognize.",
      `${WAIT} If no maintenance is planned, check the node in the panel's admin area.`,
    ],
  }),
  ...causes('server', LASTING_ERROR, {
    install_failed: [
      'installation failed',
      "The server's installation failed, so the panel doesn't allow it to start.",
      "Reinstall the server in the panel, and watch its console. If that fails as well, check the egg's installation script and the node's disk and network.",
    ],
    not_found: [
      'server not found',
      "The id is wrong, the server was deleted, or the key's account has no access to it.",
      "Copy the id from the server's address in the panel. If the id is correct, add the key's account to the server as a subuser.",
    ],
    daemon_unknown: [
      'daemon missing or wrong in the path',
      `The panel knows the server, but not at this path. On ${WITH_DAEMONS}, the paths of a server's console, backups and schedules contain the name of its node's daemon.`,
      `On ${WITH_DAEMONS}, set \`daemon\` to ${DAEMONS.map((name) => `\`${name}\``).join(' or ')}. Alternatively, let the exporter read the server list, which contains the daemon (\`limits_from_listing\`). On other panels, find out what rejects the path in front of the panel.`,
    ],
    unauthorized: [
      'access denied (401)',
      "The key's account lacks a permission on the server.",
      CONSOLE_GRANT,
    ],
    forbidden: ['access denied (403)', "The key's account lacks a permission on the server.", CONSOLE_GRANT],
    no_console_permission: [
      'no console permission',
      `The key's account lacks the permission ${permissionText((facts) => facts.consolePermission)} on the server.`,
      CONSOLE_GRANT,
    ],
    token_wrong_server: [
      'token for another server',
      'The node reports that the token belongs to a different server.',
      "Check that the node's FQDN and port in the panel lead to that node. A proxy may also mix up two nodes.",
    ],
    closed_for_good: [
      'socket closed permanently (4400)',
      'The node closed the socket with a code that tells clients not to reconnect.',
      "Check the account's permissions on the server. Then check the daemon's log on the node.",
    ],
  }),
  ...causes('server', PASSING_WARNING, {
    reinstall_failed: [
      'reinstallation failed',
      'The last reinstallation of the server failed. The panel allows it to start, but its files may be incomplete.',
      'Reinstall the server in the panel, and watch its console. Until a reinstallation succeeds, the panel reports the failure.',
    ],
    still_starting: [
      'stuck starting',
      "The server has been starting for 15 minutes or more. Players may be on it already: its egg's startup detection probably doesn't match the game. Until it is `running`, it doesn't count as available, and crashes aren't detected.",
      "Correct the egg's startup detection (`done`) in the panel's admin area. It has to match the line that the console shows once the game has started. If the game really doesn't start, its console shows why.",
    ],
    still_stopping: [
      'stuck stopping',
      "The server has been stopping for five minutes or more: its game hangs, or it doesn't understand the egg's stop command.",
      "Check its console, and kill it if it hangs. If that happens each time, correct the egg's stop command in the panel's admin area.",
    ],
    console_limit: [
      'console token limit reached',
      'The panel issues at most five console tokens per server per minute, shared with everyone who has the console open.',
      'The exporter retries automatically. If it keeps happening, find out what else requests console tokens.',
    ],
    too_many_handshakes: [
      'too many connections at once',
      'By default, the node accepts at most 32 unauthenticated console sockets per address.',
      "The exporter retries automatically. If it continues, raise the node's setting `unauthenticated_connections_per_ip`.",
    ],
    too_many_sockets: [
      'too many console sockets',
      'The node accepts at most 30 console sockets per server, and all of them are open.',
      'Close other consoles of the server, and programs that keep one open.',
    ],
    server_not_on_node: [
      'server unknown to its node',
      "The node is reachable, but reports that it doesn't have the server.",
      "Restart the node's daemon so that it reloads its servers. Check which node the server is on in the panel.",
    ],
    no_stats: [
      'no stats on the socket',
      'The socket is open, but no readable stats arrive, even on request.',
      "Restart the node's daemon. Check that no proxy in front of the node holds back frames.",
    ],
    bad_request: [
      'request rejected (400)',
      "The panel rejected the request for a reason that the exporter doesn't recognize.",
      "Check the panel's message and version. If they don't explain it, please report it.",
    ],
    query_no_answer: [
      'no response to queries',
      "The server is running, but its game didn't respond: it is still loading or hangs, the query type or port is wrong, queries are disabled, or a firewall drops them.",
      "Try to join the game. If players can join, check that `query.type` matches the game, compare `query.address` with the game's query port, enable queries in the game's settings, and allow this machine in the firewall.",
    ],
    query_refused: [
      'query port closed',
      'Nothing listens on the queried port: the game is still loading, or its query port is a different one.',
      "Compare the queried port with the game's query port. The queried port comes from `query.address`, or from the server's default allocation.",
    ],
    query_wrong_protocol: [
      'wrong query protocol',
      "Whatever responds on the queried port doesn't use the protocol of `query.type`.",
      "Check that `query.type` matches the game. Then compare `query.address` with the game's query port. A Java server with `enable-status=false` in server.properties responds to no query.",
    ],
    query_timed_out: [
      'query timed out',
      'The game began to respond, but the response was not complete within five seconds.',
      "Check the server's CPU and network usage. A game that hangs can also cause this.",
    ],
    query_dns: [
      'game server name not resolved',
      "The host name in `query.address`, or the alias of the server's default allocation, can't be resolved.",
      'Correct the name, or fix DNS on this machine.',
    ],
    query_address_missing: [
      'no address to query',
      "The server's default allocation is unknown, or it has no usable address (0.0.0.0 or ::, without an alias, and no address of the node).",
      'Set `query.address`, or give the allocation an alias in the panel.',
    ],
    query_address_not_allowed: [
      'query address not allowed',
      'The address is a loopback, link-local or cloud metadata address and the panel is on another machine, or it is a multicast or reserved address.',
      "Correct the server's default allocation or `query.address`. If the game really is at that address, add the host to `query_hosts`.",
    ],
  }),
  ...causes('server', PASSING_FACT, {
    query_never_answered: [
      'never responded to a query',
      "The query type follows from the server's egg, and the game hasn't responded since the exporter started: it may not support queries, or they are disabled.",
      'If the game supports queries, enable them in its settings. If the type or port is another one, set `query.type` and `query.address`.',
    ],
  }),
} satisfies Readonly<Record<CauseCodes['server'], Cause>>;
