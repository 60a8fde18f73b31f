import { groupOf } from '../data/attention.ts';
import type { LiveField, LiveServer } from '../data/live-server.ts';
import type { LiveUpdate } from '../data/live-update.ts';
import type { PanelsStatus } from '../data/panel-status.ts';

/** The fleet as the stream describes it. */
export class LiveFleet {
  /** In the exporter's order; the objects stay the same while their fields change. */
  readonly servers: readonly LiveServer[];
  /** The exporter's clock, in Unix seconds. */
  time = 0;
  status: PanelsStatus = { panels: [], complaints: [], emptyBecause: '' };
  /** The number of servers with each trait. */
  counts: ReadonlyMap<string, number> = new Map();

  /** Creates the fleet from the event `full`. */
  constructor(full: LiveUpdate) {
    this.servers = Array.from({ length: full.size }, () => ({}) as LiveServer);
    this.apply(full);
  }

  apply({ time, status = this.status, changes }: LiveUpdate): void {
    this.time = time;
    this.status = status;
    for (const [field, places, values] of changes) {
      for (const [index, place] of (places ?? [...values.keys()]).entries()) {
        const server: { -readonly [Name in LiveField]?: unknown } | undefined = this.servers[place];
        if (server !== undefined) server[field] = values[index] ?? undefined;
      }
    }
    const counts = new Map<string, number>();
    for (const trait of this.servers.flatMap(traitsOf)) counts.set(trait, (counts.get(trait) ?? 0) + 1);
    this.counts = counts;
  }

  /** Whether the servers are on several nodes. */
  get hasNodes(): boolean {
    return this.servers.some(({ node }) => node !== this.servers[0]?.node);
  }
}

/** The server's key in the exporter. */
export function keyOf({ panel, server_id: id }: LiveServer): string {
  return `${panel}/${id}`;
}

/** What servers are counted and selected by: a kind and a value, such as `state:running`. */
export function traitsOf({ attention, state, condition, panel }: LiveServer): readonly string[] {
  const problems = attention === undefined ? [] : ['any', attention, groupOf(attention)];
  const of = new Set(problems.map((word) => `attention:${word}`));
  return [`state:${state}`, `condition:${condition}`, `panel:${panel}`, ...of];
}

/** The user's labels as one text. */
export function labelWords({ labels }: LiveServer): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
}

/** Whether the server has a problem, even one that isn't counted because there is data. */
export function hasProblem({ complaint }: LiveServer): boolean {
  return complaint !== undefined && complaint.severity !== 'fact';
}

/** The players of all servers, each once: those of a proxy are on other servers. Undefined if none are known. */
export function playersOf(servers: readonly Pick<LiveServer, 'players' | 'proxy'>[]): number | undefined {
  const known = servers.flatMap(({ players, proxy }) => (proxy === true ? [] : (players ?? [])));
  return known.length === 0 ? undefined : known.reduce((sum, players) => sum + players, 0);
}
