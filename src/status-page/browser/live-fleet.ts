import type { Complaint } from '../data/complaint.ts';
import type { LiveField, LiveServer } from '../data/live-server.ts';
import type { PanelStatus } from '../data/panel-status.ts';
import type { Delta, FieldValues, Full } from '../data/protocol.ts';

/** The fleet as the stream describes it. */
export class LiveFleet {
  /** In the exporter's order; the objects stay the same while their fields change. */
  readonly servers: readonly LiveServer[];
  readonly version: string;
  /** The exporter's clock, in Unix seconds. */
  time: number;
  panels: readonly PanelStatus[];
  /** What is wrong with panels and nodes. */
  complaints: readonly Complaint[];
  /** Whether the servers are on several nodes. */
  hasNodes = false;
  readonly #byKey: ReadonlyMap<string, LiveServer>;

  constructor({ version, time, panels, complaints, size, servers: fields }: Full) {
    this.version = version;
    this.time = time;
    this.panels = panels;
    this.complaints = complaints;
    this.servers = Array.from({ length: size }, () => ({}) as LiveServer);
    this.#setWhole(fields);
    this.#byKey = new Map(this.servers.map((server) => [keyOf(server), server]));
  }

  apply({ time, panels, complaints, servers: fields, changes }: Delta): void {
    this.time = time;
    if (panels !== undefined) this.panels = panels;
    if (complaints !== undefined) this.complaints = complaints;
    this.#setWhole(fields);
    for (const [field, [places, values]] of Object.entries(changes))
      this.#set(field as LiveField, places, values);
  }

  #setWhole(fields: FieldValues): void {
    const places = [...this.servers.keys()];
    for (const [field, values] of Object.entries(fields)) this.#set(field as LiveField, places, values);
  }

  #set(field: LiveField, places: readonly number[], values: readonly unknown[]): void {
    for (const [index, place] of places.entries()) {
      const server: { -readonly [Name in LiveField]?: unknown } | undefined = this.servers[place];
      if (server !== undefined) server[field] = values[index] ?? undefined;
    }
    if (field === 'node') this.hasNodes = this.servers.some(({ node }) => node !== this.servers[0]?.node);
  }

  find(key: string | undefined): LiveServer | undefined {
    return key === undefined ? undefined : this.#byKey.get(key);
  }

  /** Age of the newest sample in seconds; 0 while samples keep coming, undefined before the first. */
  age({ last_sample_timestamp_seconds: sampled }: LiveServer): number | undefined {
    return sampled === undefined || sampled === 0 ? sampled : Math.max(0, this.time - sampled);
  }
}

/** The server's key in the exporter. */
export function keyOf({ panel, server_id: id }: LiveServer): string {
  return `${panel}/${id}`;
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
