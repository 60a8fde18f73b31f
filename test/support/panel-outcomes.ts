// Outcomes of a panel's servers as rows of a table. A server's first letter is its node.
import * as fc from 'fast-check';
import { callSigns, socketSigns } from '../../src/diagnosis/signs.ts';
import type { CauseCode } from '../../src/domain/problems.ts';
import type { Outage } from '../../src/panel/health/blame.ts';
import { LastOutcomes } from '../../src/panel/health/last-outcomes.ts';
import { Ledger } from '../../src/panel/health/ledger.ts';
import type { AskedServers, Outcome } from '../../src/panel/health/outcome.ts';
import { CHANNELS, type Channel, NO_SERVER } from '../../src/panel/subjects.ts';

export const MINUTE_MS = 60_000;
/** The time from which rows count back. */
export const NOW = 10 * MINUTE_MS;

/** An outcome: channel, server, cause, the seconds since its end, and its duration in seconds. */
export type Row = readonly [
  channel: Channel,
  server: string,
  cause: CauseCode | 'works' | 'streams',
  agoS?: number,
  tookS?: number,
];

/** Causes that the panel itself reports. */
const FROM_PANEL: ReadonlySet<string> = new Set([
  'panel_error',
  'node_unreachable',
  'unauthorized',
  'not_found',
  'no_console_permission',
]);

export const nodeOfServer = (server: string): string | undefined =>
  server === NO_SERVER ? undefined : server[0];

export function outcomeOf([channel, server, what, agoS = 1, tookS = 0.1]: Row): Outcome {
  const cause = what === 'works' || what === 'streams' ? undefined : what;
  const fromPanel = cause === undefined || FROM_PANEL.has(cause);
  return {
    startedAt: NOW - (agoS + tookS) * 1_000,
    at: NOW - agoS * 1_000,
    problem: cause && { cause, detail: `${cause} of ${server}` },
    signs:
      channel === 'sockets'
        ? socketSigns(cause)
        : callSigns({ endpoint: channel, cause, fromPanel, isProven: true }),
    ...(what === 'streams' && { streams: true }),
  };
}

/** The same failure of several servers, one after the other. */
export const failing = (channel: Channel, servers: string, cause: CauseCode, agoS = 1): Row[] =>
  servers.split(' ').map((server, index) => [channel, server, cause, agoS - 0.1 * index]);

/** These servers on every channel, and the server list. */
export function askedOf(servers: readonly string[]): AskedServers {
  const all = new Map(servers.map((server) => [server, { node: nodeOfServer(server) }]));
  const entries = CHANNELS.map((channel) => [
    channel,
    channel === 'listing' ? new Map([[NO_SERVER, {}]]) : all,
  ]);
  return Object.fromEntries(entries) as AskedServers;
}

/** An outage that has been blamed for a minute. */
export const BLAMED: Outage = {
  problem: { cause: 'node_connection', detail: '' },
  suspectedAt: NOW - MINUTE_MS,
  blamedAt: NOW - MINUTE_MS,
  trialAt: NOW,
  trials: 1,
  trial: undefined,
};

/** The servers of two nodes. */
export const [A, B]: readonly [readonly string[], readonly string[]] = [
  ['a1', 'a2', 'a3', 'a4'],
  ['b1', 'b2', 'b3', 'b4'],
];

/** The servers of both nodes, and the only server of a third. */
export const EVERYBODY: readonly string[] = [...A, ...B, 'c1'];

const anyRow: fc.Arbitrary<Row> = fc.oneof(
  fc.tuple(
    fc.constantFrom<Channel>('websocket', 'resources', 'backups'),
    fc.constantFrom(...EVERYBODY),
    fc.constantFrom<CauseCode | 'works'>(
      'works',
      'node_silent',
      'panel_error',
      'connection_cut',
      'node_unreachable',
      'suspended',
      'not_found',
      'no_console_permission',
      'rate_limited',
    ),
    fc.integer({ min: 0, max: 300 }),
  ),
  fc.tuple(
    fc.constant<Channel>('sockets'),
    fc.constantFrom(...EVERYBODY),
    fc.constantFrom<CauseCode | 'streams'>('streams', 'node_connection', 'no_stats', 'closed'),
    fc.integer({ min: 0, max: 300 }),
  ),
  fc.tuple(
    fc.constant<Channel>('listing'),
    fc.constant(NO_SERVER),
    fc.constantFrom<CauseCode | 'works'>('works', 'connection_cut'),
    fc.integer({ min: 0, max: 300 }),
  ),
);

/** Outcomes of random servers, at most one per server and channel. */
export const anyRows = fc.uniqueArray(anyRow, {
  maxLength: 30,
  selector: ([channel, server]) => `${channel} ${server}`,
});

/** A ledger, and the last outcomes of its servers. */
export class ServersLedger extends Ledger {
  readonly servers: LastOutcomes;

  constructor(random: () => number = () => 0.5) {
    super();
    this.servers = new LastOutcomes(this, random);
  }
}
