import type { BlockedReason } from '../domain/server.ts';
import type { Remedy } from './remedy.ts';

const WAIT_FOR_PANEL = 'Wait until it is over, or ask whoever runs the panel.';

/** What holds one server back on the panel. */
export const BLOCKED_REMEDIES = {
  suspended: {
    likely: 'Somebody suspended the server in the panel.',
    change:
      'Let the panel unsuspend it, or leave it out: take it out of servers, or name it in discover.exclude.',
  },
  installing: {
    likely: 'The server is being installed, or its installation failed.',
    change: 'Wait until it is installed; after a failure, reinstall it in the panel.',
  },
  transferring: { likely: 'The server is on its way to another node.', change: WAIT_FOR_PANEL },
  restoring: { likely: 'The server is being restored from a backup.', change: WAIT_FOR_PANEL },
  maintenance: {
    likely: "The server's node is under maintenance, or the panel holds the server back for another reason.",
    change: WAIT_FOR_PANEL,
  },
  not_found: {
    likely: "The id is wrong, the server was deleted, or the key's account has no access to it.",
    change:
      "Copy the id from the server's address in the panel, or add the key's account to the server as a subuser.",
  },
  unauthorized: {
    likely: "The key's account may not do this with the server.",
    change: 'Give the account access to the server in the panel, as a subuser with websocket.connect.',
  },
  forbidden: {
    likely: "The key's account may not do this with the server.",
    change: 'Give the account access to the server in the panel, as a subuser with websocket.connect.',
  },
} as const satisfies Record<BlockedReason, Remedy>;

/** What else ails the calls for one server. */
export const SERVER_REMEDIES = {
  no_console_permission: {
    likely: "The key's account lacks the permission websocket.connect on this server.",
    change: 'In the panel, open the server → Users, and give the account the websocket permission.',
  },
  console_limit: {
    likely: 'Panels allow five console tokens a minute and server; people with the console open share them.',
    change: 'Wait a minute and try this server again (--server).',
  },
  node_unreachable: {
    likely: "The server's node is down, or its daemon (Wings) is.",
    change: "Look at the node in the panel, and at the daemon's log on the node.",
  },
  bad_answer: {
    likely: 'Something between here and the panel changes its answers, or the panel is of an unknown make.',
    change: 'Ask the same address with curl, and compare.',
  },
  deadline: {
    likely: 'The panel or the node is very slow, or many calls wait for their turn.',
    change: 'Try this server alone (--server).',
  },
  unexpected: {
    likely: 'This is most likely a fault of this program.',
    change: 'Please report it with the words above.',
  },
} as const satisfies Record<string, Remedy>;
