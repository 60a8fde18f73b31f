import type { Attention } from '../data/attention.ts';
import type { LiveField, LiveServer } from '../data/live-server.ts';
import { explained } from '../data/problems.ts';
import type { Delta, ExplainedProblem, FieldValues, Full, PanelStatus } from '../data/protocol.ts';
import { STOP_TITLES, TRACE_SECONDS, type Trouble, troubleOf, troubleText } from '../data/trouble.ts';
import { problemText, remedyWhile } from '../data/words.ts';

/** Reasons that began with, or were last seen at, the last stop. */
const STOP_TROUBLE: ReadonlySet<Attention> = new Set<Attention>(['crashed', 'gave_up', 'crash_loop', 'off']);

/** The fleet as the stream describes it. */
export class LiveFleet {
  /** In the exporter's order; the objects stay the same while their fields change. */
  readonly servers: readonly LiveServer[];
  /** The exporter's clock, in Unix seconds. */
  time: number;
  panels: readonly PanelStatus[];
  /** Whether the servers are on several nodes. */
  hasNodes = false;
  /** How many servers each panel has, by its name. */
  readonly panelSizes: ReadonlyMap<string, number>;
  readonly #byKey: ReadonlyMap<string, LiveServer>;

  constructor({ time, panels, size, servers: fields }: Full) {
    this.time = time;
    this.panels = panels;
    this.servers = Array.from({ length: size }, () => ({}) as LiveServer);
    this.#setWhole(fields);
    const sizes = new Map<string, number>();
    for (const { panel } of this.servers) sizes.set(panel, (sizes.get(panel) ?? 0) + 1);
    this.panelSizes = sizes;
    this.#byKey = new Map(this.servers.map((server) => [keyOf(server), server]));
  }

  apply({ time, panels, servers: fields, changes }: Delta): void {
    this.time = time;
    if (panels !== undefined) this.panels = panels;
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

  /** Whether any server has a value in this field. */
  has(field: LiveField): boolean {
    return this.servers.some((server) => server[field] !== undefined);
  }

  find(key: string): LiveServer | undefined {
    return this.#byKey.get(key);
  }

  /** The text of the server's row: the cause, and what to do; undefined if there is nothing to show. */
  troubleAt(server: LiveServer): Trouble | undefined {
    return troubleOf({ ...server, problem: problemAt(server) }, this.time);
  }

  /** Whether the server's row shows a problem or a recent crash. */
  isTroubled(server: LiveServer): boolean {
    const { attention, cause } = server;
    return attention !== undefined || cause !== undefined || this.crashBeside(server) !== undefined;
  }

  /** A server's problem, what happened, and what to do about it, in one text; empty if there is none. */
  troubleWords(server: LiveServer): string {
    const problem = problemAt(server);
    if (problem !== undefined) return problemText(problem);
    const trouble = this.troubleAt(server);
    return trouble === undefined ? '' : troubleText(trouble);
  }

  /** The server's recent crash, for a row that shows other trouble; undefined if there was none. */
  crashBeside({
    last_crash: crash,
  }: LiveServer): { readonly title: string; readonly at: number } | undefined {
    if (crash === undefined || this.time - crash.timestamp_seconds >= TRACE_SECONDS) return undefined;
    return { title: STOP_TITLES[crash.reason], at: crash.timestamp_seconds };
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

/** The server's problem and what to do about it; undefined if there is none. */
export function problemAt({ cause, trouble = '', condition }: LiveServer): ExplainedProblem | undefined {
  if (cause === undefined) return undefined;
  const words = explained({ cause, detail: trouble });
  return { ...words, remedy: remedyWhile(condition, words) };
}

/** Whether the server has a problem, even one that isn't counted because there is data. */
export function hasProblem(server: LiveServer): boolean {
  const severity = problemAt(server)?.severity ?? 'fact';
  return server.attention !== undefined || severity !== 'fact';
}

/** When the server's problem began, in Unix seconds; undefined if unknown. */
export function troubleSince(server: LiveServer): number | undefined {
  const { attention, cause, last_stop, last_crash, last_sample_timestamp_seconds: sampled } = server;
  if (attention === undefined) return cause === undefined ? last_crash?.timestamp_seconds : undefined;
  if (STOP_TROUBLE.has(attention)) return last_stop?.timestamp_seconds;
  return attention === 'no_data' ? sampled || undefined : undefined;
}
