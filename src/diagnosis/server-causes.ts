import type { CAUSES_BY_SCOPE } from '../domain/problem.ts';
import type { CauseFacts } from './causes.ts';

/** A state in which the panel blocks a server: it is normal, and ends without the exporter's help. */
const STATE = { severity: 'fact', lasting: true, escalates: false } as const;

/** A refusal that only someone with permissions on the panel can resolve. */
const REFUSAL = { severity: 'error', lasting: true, escalates: false } as const;

/** A problem that is often temporary. */
const PASSING = { severity: 'warning', lasting: false, escalates: false } as const;

const WAIT = 'Wait until it is done; the exporter retries automatically.';
const GRANT =
  "Grant the key's account the websocket.connect permission on the server. In the panel, open the server → Users → the account, and save: Pterodactyl doesn't show this permission, but adds it whenever a user is saved.";

/** Causes that concern one server. */
export const SERVER_CAUSES: Readonly<Record<(typeof CAUSES_BY_SCOPE.server)[number], CauseFacts>> = {
  suspended: {
    ...STATE,
    title: 'server suspended',
    meaning: 'The server is suspended in the panel.',
    remedy:
      'Unsuspend the server in the panel. If it is meant to stay suspended, set expect: any for it, or exclude it (discover.exclude).',
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
    meaning: 'The server is being transferred to another node.',
    remedy: WAIT,
  },
  restoring: {
    ...STATE,
    title: 'backup being restored',
    meaning: 'A backup of the server is being restored.',
    remedy: WAIT,
  },
  maintenance: {
    ...STATE,
    title: 'node under maintenance',
    meaning:
      "The server's node is under maintenance, or the panel blocks the server for a reason that the exporter doesn't recognize.",
    remedy: `${WAIT} If no maintenance is planned, check the node in the panel's admin area.`,
  },
  not_found: {
    ...REFUSAL,
    title: 'server not found',
    meaning: "The id is wrong, the server was deleted, or the key's account has no access to it.",
    remedy:
      "Copy the id from the server's address in the panel. If the id is correct, add the key's account to the server as a subuser.",
  },
  unauthorized: {
    ...REFUSAL,
    title: 'access denied (401)',
    meaning: "The key's account lacks a permission on the server.",
    remedy: GRANT,
  },
  forbidden: {
    ...REFUSAL,
    title: 'access denied (403)',
    meaning: "The key's account lacks a permission on the server.",
    remedy: GRANT,
  },
  no_console_permission: {
    ...REFUSAL,
    title: 'no console permission',
    meaning: "The key's account lacks the websocket.connect permission on the server.",
    remedy: GRANT,
  },
  console_limit: {
    ...PASSING,
    title: 'console token limit reached',
    meaning:
      'The panel issues at most five console tokens per server per minute, shared with everyone who has the console open.',
    remedy:
      'The exporter retries automatically. If it keeps happening, find out what else requests console tokens.',
  },
  too_many_sockets: {
    ...PASSING,
    title: 'too many console sockets',
    meaning: 'The node accepts at most 30 console sockets per server, and all of them are open.',
    remedy: 'Close other consoles of the server, and programs that keep one open.',
  },
  server_not_on_node: {
    ...PASSING,
    title: 'server unknown to its node',
    meaning: "The node is reachable, but reports that it doesn't have the server.",
    remedy:
      "Restart the node's daemon so that it reloads its servers. Check which node the server is on in the panel.",
  },
  token_wrong_server: {
    ...REFUSAL,
    title: 'token for another server',
    meaning: 'The node reports that the token belongs to a different server.',
    remedy:
      "Check that the node's FQDN and port in the panel lead to that node. A proxy may also mix up two nodes.",
  },
  closed_for_good: {
    ...REFUSAL,
    title: 'socket closed permanently (4400)',
    meaning: 'The node closed the socket with a code that tells clients not to reconnect.',
    remedy: "Check the account's permissions on the server. Then check the daemon's log on the node.",
  },
  no_stats: {
    ...PASSING,
    title: 'no stats on the socket',
    meaning: 'The socket is open, but no readable stats arrive, even on request.',
    remedy: "Restart the node's daemon. Check that no proxy in front of the node holds back frames.",
  },
  bad_request: {
    ...PASSING,
    title: 'request rejected (400)',
    meaning: "The panel rejected the request for a reason that the exporter doesn't recognize.",
    remedy: "Check the panel's message and version. If they don't explain it, please report it.",
  },
  query_no_answer: {
    ...PASSING,
    title: 'no response to queries',
    meaning:
      "The server is running, but its game didn't respond: it is still loading or hangs, the query type or port is wrong, queries are disabled, or a firewall drops them.",
    remedy:
      "Try to join the game. If players can join, check that query.type matches the game, compare query.address with the game's query port, enable queries in the game's settings, and allow this machine in the firewall.",
  },
  query_refused: {
    ...PASSING,
    title: 'query port closed',
    meaning:
      'Nothing listens on the queried port: the game is still loading, or its query port is a different one.',
    remedy:
      "Compare the queried port with the game's query port. The queried port is the one in query.address, or that of the server's default allocation.",
  },
  query_wrong_protocol: {
    ...PASSING,
    title: 'wrong query protocol',
    meaning: "Whatever responds on the queried port doesn't use the protocol of query.type.",
    remedy:
      "Check that query.type matches the game. Then compare query.address with the game's query port. A Java server with enable-status=false in server.properties responds to no query.",
  },
  query_timed_out: {
    ...PASSING,
    title: 'query timed out',
    meaning: 'The game began to respond, but the response was not complete within five seconds.',
    remedy: "Check the server's CPU and network usage. A game that hangs can also cause this.",
  },
  query_never_answered: {
    ...PASSING,
    severity: 'fact',
    title: 'never answered a query',
    meaning:
      "The query type follows from the server's egg, and the game hasn't responded since the exporter started: it may not support queries, or they are disabled.",
    remedy:
      'If the game supports queries, enable them in its settings. If the type or port is another one, set query.type and query.address.',
  },
  query_dns: {
    ...PASSING,
    title: 'game server name not resolved',
    meaning:
      "The host name in query.address, or the alias of the server's default allocation, can't be resolved.",
    remedy: 'Correct the name, or fix DNS on this machine.',
  },
  query_address_missing: {
    ...PASSING,
    title: 'no address to query',
    meaning:
      "The server's default allocation is unknown, or it has no usable address (0.0.0.0 or ::, without an alias, and no address of the node).",
    remedy: 'Set query.address, or give the allocation an alias in the panel.',
  },
  query_address_not_allowed: {
    ...PASSING,
    title: 'query address not allowed',
    meaning:
      'The address is a loopback, link-local or cloud metadata address and the panel is on another machine, or it is a multicast or reserved address.',
    remedy:
      "Correct the server's default allocation or query.address. If the game really is at that address, add the host to query_hosts.",
  },
};

/** Causes that concern the exporter or its machine. */
export const EXPORTER_CAUSES: Readonly<Record<(typeof CAUSES_BY_SCOPE.exporter)[number], CauseFacts>> = {
  descriptors: {
    ...PASSING,
    severity: 'error',
    title: 'out of file descriptors',
    meaning:
      'The limit on open files is too low: each console socket takes a file descriptor, and some are reserved for scrapes and API calls.',
    remedy: 'Raise the limit on open files (ulimit -n, LimitNOFILE= in a systemd unit).',
  },
  unexpected: {
    ...PASSING,
    title: 'unexpected error',
    meaning: 'This is most likely a bug in the exporter.',
    remedy: 'Please report it together with the message.',
  },
};
