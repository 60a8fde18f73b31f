import type { CAUSES_BY_SCOPE } from '../domain/problem.ts';
import type { CauseFacts } from './causes.ts';

/** A state in which the panel blocks a server: normal, and it ends without the exporter's help. */
const STATE = { severity: 'fact', lasting: true, escalates: false } as const;

/** A refusal that only someone with rights on the panel can lift. */
const REFUSAL = { severity: 'error', lasting: true, escalates: false } as const;

/** A problem that often passes by itself. */
const PASSING = { severity: 'warning', lasting: false, escalates: false } as const;

const WAIT = 'Wait until it is done; the exporter tries again by itself.';
const GRANT =
  "Let the key's account open the server's console (websocket.connect). In the panel: open the server → Users, and give the account the websocket.connect permission.";

/** Causes that concern one server. */
export const SERVER_CAUSES: Readonly<Record<(typeof CAUSES_BY_SCOPE.server)[number], CauseFacts>> = {
  suspended: {
    ...STATE,
    title: 'server suspended',
    meaning: 'Somebody suspended the server in the panel.',
    remedy:
      'Unsuspend the server in the panel, or set expect: any for it. To stop observing it, remove it from servers, or name it in discover.exclude.',
  },
  installing: {
    ...STATE,
    title: 'server installing',
    meaning: 'The server is being installed, or its installation failed.',
    remedy: `${WAIT} If the installation failed, reinstall the server in the panel.`,
  },
  transferring: {
    ...STATE,
    title: 'server being transferred',
    meaning: 'The server is being moved to another node.',
    remedy: WAIT,
  },
  restoring: {
    ...STATE,
    title: 'backup being restored',
    meaning: 'The server is being restored from a backup.',
    remedy: WAIT,
  },
  maintenance: {
    ...STATE,
    title: 'node under maintenance',
    meaning: "The server's node is under maintenance, or the panel holds the server for another reason.",
    remedy: `${WAIT} If nobody planned it, look at the node in the panel's admin area.`,
  },
  not_found: {
    ...REFUSAL,
    title: 'server not found',
    meaning: "The id is wrong, the server was deleted, or the key's account has no access to it.",
    remedy:
      "Copy the id from the server's address in the panel. If it is right, add the key's account to the server as a subuser.",
  },
  unauthorized: {
    ...REFUSAL,
    title: 'access denied (401)',
    meaning: "The key's account may not do this with the server.",
    remedy: GRANT,
  },
  forbidden: {
    ...REFUSAL,
    title: 'access denied (403)',
    meaning: "The key's account may not do this with the server.",
    remedy: GRANT,
  },
  no_console_permission: {
    ...REFUSAL,
    title: 'no console permission',
    meaning: "The key's account lacks the websocket.connect permission on this server.",
    remedy: GRANT,
  },
  console_limit: {
    ...PASSING,
    title: 'console token limit reached',
    meaning:
      'Panels issue five console tokens per minute and server, and people with the console open share them.',
    remedy: 'Nothing, if it passes: the exporter waits. Otherwise find out what else requests tokens.',
  },
  too_many_sockets: {
    ...PASSING,
    title: 'too many console sockets',
    meaning: 'A node accepts 30 console sockets per server, and all of them are open.',
    remedy: 'Close consoles of this server, and stop other programs that keep one open.',
  },
  server_not_on_node: {
    ...PASSING,
    title: 'server unknown to its node',
    meaning: 'The node answers, but says that it has no such server.',
    remedy:
      "Restart the node's daemon, so that it loads its servers again. Look at the server's node in the panel.",
  },
  token_wrong_server: {
    ...REFUSAL,
    title: 'token for another server',
    meaning: 'The node says that the token is for another server than the one of this socket.',
    remedy:
      "Check that the node's FQDN and port in the panel lead to that node. A proxy may mix two nodes up, too.",
  },
  closed_for_good: {
    ...REFUSAL,
    title: 'socket closed for good (4400)',
    meaning: 'The node closed the socket with a code that asks clients not to reconnect.',
    remedy: "Check the account's permissions on the server. Look at the daemon's log on the node.",
  },
  no_stats: {
    ...PASSING,
    title: 'no stats on the socket',
    meaning: 'The socket is open, but no stats arrive, even on request.',
    remedy: "Restart the node's daemon; check that a proxy before the node doesn't hold frames back.",
  },
  bad_request: {
    ...PASSING,
    title: 'request rejected (400)',
    meaning: "The panel rejected the request in its own words, for a reason that the exporter doesn't know.",
    remedy: "Look at the panel's words and its version; please report it if nothing explains it.",
  },
  query_no_answer: {
    ...PASSING,
    title: 'no answer to the query',
    meaning:
      'The server is running, but its game sent nothing back: it is still loading or hangs, its query port is another one, queries are disabled, or a firewall drops them.',
    remedy:
      "Try to join. If players can, compare query.address with the game's query port, enable queries in the game's settings, and let this machine through the firewall.",
  },
  query_refused: {
    ...PASSING,
    title: 'query refused',
    meaning:
      'Nothing listens on the queried port: the game is still loading, or its query port is another one.',
    remedy:
      "Compare the queried port with the one that the game answers queries on. It is the one in query.address, or that of the server's default allocation.",
  },
  query_wrong_protocol: {
    ...PASSING,
    title: 'answer in another protocol',
    meaning: "What answers on the queried port doesn't speak the protocol of query.type.",
    remedy: "Compare query.type with the game. Then compare query.address with the game's query port.",
  },
  query_timed_out: {
    ...PASSING,
    title: 'query timed out',
    meaning: 'The game began to answer, and the answer was not complete within five seconds.',
    remedy: "Look at the server's CPU and network use; a game that hangs answers like that, too.",
  },
  query_dns: {
    ...PASSING,
    title: 'name of the game server not resolved',
    meaning: "The name in query.address, or the alias of the server's default allocation, can't be resolved.",
    remedy: 'Correct the name, or the DNS of this machine.',
  },
  query_address_missing: {
    ...PASSING,
    title: 'no address to query',
    meaning:
      "The server's default allocation is not known, or names no address: it is 0.0.0.0 or ::, without an alias.",
    remedy: 'Write the address into query.address. Or give the allocation an alias in the panel.',
  },
  query_address_not_allowed: {
    ...PASSING,
    title: 'address not allowed for queries',
    meaning:
      'The address is a loopback, link-local or cloud metadata one, and the panel is not there itself; or it belongs to no single machine.',
    remedy:
      "Correct the server's default allocation or query.address; if the game really is there, name the host in query_hosts.",
  },
};

/** Causes that lie in the exporter or its machine. */
export const EXPORTER_CAUSES: Readonly<Record<(typeof CAUSES_BY_SCOPE.exporter)[number], CauseFacts>> = {
  descriptors: {
    ...PASSING,
    severity: 'error',
    title: 'out of file descriptors',
    meaning:
      'This process may open too few files and connections: each console socket takes one, and some are reserved for scrapes and API calls.',
    remedy: 'Raise the limit (ulimit -n, LimitNOFILE= in the systemd unit).',
  },
  deadline: {
    ...PASSING,
    title: 'not done in time',
    meaning: 'The panel or the node is very slow, or many calls wait for their turn.',
    remedy: 'Try this server alone (--server).',
  },
  unexpected: {
    ...PASSING,
    title: 'unexpected error',
    meaning: 'This is most likely a fault of this program.',
    remedy: 'Please report it with the words above.',
  },
};
