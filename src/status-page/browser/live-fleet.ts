import type { Attention } from '../data/attention.ts';
import {
  COLUMNS,
  type Column,
  type Delta,
  type ExplainedProblem,
  type Full,
  type PanelStatus,
  type Patch,
} from '../data/protocol.ts';
import { STOP_TITLES, stopWords, TRACE_MS, type Trouble, troubleOf, troubleText } from '../data/trouble.ts';
import { problemText, remedyWhile, share } from '../data/words.ts';

/** Reasons that began with, or were last seen at, the last stop. */
const STOP_TROUBLE: ReadonlySet<Attention> = new Set<Attention>(['crashed', 'gave_up', 'crash_loop']);

/** The fleet as the stream describes it, in columns of numbers; a server is an index into them. */
export class LiveFleet {
  readonly full: Full;
  readonly size: number;
  /** The exporter's clock, in Unix seconds. */
  time: number;
  panels: readonly PanelStatus[];
  /** The detail of each server's problem. */
  readonly trouble: string[];
  readonly node: string[];
  /** How many servers each panel has, by its name. */
  readonly panelSizes: ReadonlyMap<string, number>;
  readonly #columns: Readonly<Record<Column, number[]>>;
  readonly #places: ReadonlyMap<string, number>;

  constructor(full: Full) {
    this.full = full;
    this.size = full.servers.id.length;
    this.time = full.time;
    this.panels = full.panels;
    this.trouble = [...full.trouble];
    this.node = [...full.node];
    const sizes = new Map<string, number>();
    for (const panel of full.servers.panel) sizes.set(panel, (sizes.get(panel) ?? 0) + 1);
    this.panelSizes = sizes;
    const columns = COLUMNS.map((column) => [column, [...full.columns[column]]] as const);
    this.#columns = Object.fromEntries(columns) as Record<Column, number[]>;
    this.#places = new Map(full.servers.id.map((_, server) => [this.key(server), server]));
  }

  apply(delta: Delta): void {
    this.time = delta.time;
    if (delta.panels !== undefined) this.panels = delta.panels;
    for (const column of COLUMNS) applyPatch(this.#columns[column], delta.columns[column]);
    applyPatch(this.trouble, delta.trouble);
    applyPatch(this.node, delta.node);
  }

  /** −1 if unknown. */
  value(column: Column, server: number): number {
    return this.#columns[column][server] ?? -1;
  }

  /** Whether any server has a value in this column. */
  has(column: Column): boolean {
    return this.#columns[column].some((value) => value >= 0);
  }

  name(server: number): string {
    return this.full.servers.name[server] ?? '';
  }

  /** The server's key in the exporter. */
  key(server: number): string {
    const { panel, id } = this.full.servers;
    return `${panel[server] ?? ''}/${id[server] ?? ''}`;
  }

  find(key: string): number | undefined {
    return this.#places.get(key);
  }

  state(server: number): string {
    return this.full.words.states[this.value('state', server)] ?? 'unknown';
  }

  condition(server: number): string {
    return this.full.words.conditions[this.value('condition', server)] ?? 'waiting';
  }

  /** Why the server can't be observed; undefined if it can. */
  blocked(server: number): string | undefined {
    return this.full.words.blocked[this.value('blocked', server)];
  }

  /** The server's problem and what to do about it; undefined if there is none. */
  problem(server: number): ExplainedProblem | undefined {
    const words = this.full.words.causes[this.value('cause', server)];
    if (words === undefined) return undefined;
    const remedy = remedyWhile(this.condition(server), words);
    return { ...words, remedy, detail: this.trouble[server] ?? '' };
  }

  /** Why the server needs attention; undefined if it doesn't. */
  attention(server: number): Attention | undefined {
    return this.full.words.attention[this.value('attention', server)];
  }

  /** The text of the server's row: the cause, and what to do; undefined if there is nothing to show. */
  troubleAt(server: number): Trouble | undefined {
    const expected = this.value('expected', server);
    return troubleOf({
      attention: this.attention(server),
      problem: this.problem(server),
      expected: expected < 0 ? undefined : expected === 1,
      lastStop: this.#lastStop(server),
      lastCrash: this.#lastCrash(server),
      crashedMsAgo: (this.time - this.value('crashed', server)) * 1_000,
      crashes: this.value('crashes', server),
      diskPercent: share(this.value('disk', server), this.value('diskLimit', server)),
    });
  }

  /** The reason and exit code of its last stop; empty if none was seen. */
  lastStopWords(server: number): string {
    const stop = this.#lastStop(server);
    return stop === undefined ? '' : stopWords(stop);
  }

  #lastStop(server: number) {
    return this.#stop(this.value('stopReason', server), this.value('exitCode', server));
  }

  #lastCrash(server: number) {
    return this.#stop(this.value('crashReason', server), this.value('crashExitCode', server));
  }

  #stop(place: number, exitCode: number) {
    const reason = this.full.words.stopReasons[place];
    return reason && { reason, exitCode: exitCode < 0 ? undefined : exitCode };
  }

  /** The server's recent crash, for a row that shows other trouble; undefined if there was none. */
  crashBeside(server: number): { readonly title: string; readonly at: number } | undefined {
    const [crash, at] = [this.#lastCrash(server), this.value('crashed', server)];
    if (crash === undefined || (this.time - at) * 1_000 >= TRACE_MS) return undefined;
    return { title: STOP_TITLES[crash.reason], at };
  }

  /** When the server's problem began, in Unix seconds; undefined if unknown. */
  troubleSince(server: number): number | undefined {
    const attention = this.attention(server);
    const isOfStop = attention !== undefined && STOP_TROUBLE.has(attention);
    const isOfCrash = attention === undefined && this.problem(server) === undefined;
    const since = isOfStop
      ? this.value('stopped', server)
      : isOfCrash
        ? this.value('crashed', server)
        : attention === 'no_data'
          ? this.value('sampled', server)
          : -1;
    return since > 0 ? since : undefined;
  }

  /** Age of the newest sample in seconds; 0 while samples keep coming, undefined before the first. */
  age(server: number): number | undefined {
    const sampled = this.value('sampled', server);
    if (sampled < 0) return undefined;
    return sampled === 0 ? 0 : Math.max(0, this.time - sampled);
  }
}

/** A server's problem, what was observed, and what to do about it, in one text; empty if there is none. */
export function troubleWords(fleet: LiveFleet, server: number): string {
  const problem = fleet.problem(server);
  if (problem !== undefined) return problemText(problem);
  const trouble = fleet.troubleAt(server);
  return trouble === undefined ? '' : troubleText(trouble);
}

function applyPatch<Value>(values: Value[], patch: Patch<Value> | undefined): void {
  if (patch === undefined) return;
  const [runs, changed] = patch;
  let [row, next] = [0, 0];
  for (let at = 0; at < runs.length; at += 2) {
    row += runs[at] ?? 0;
    for (const end = row + (runs[at + 1] ?? 0); row < end; row += 1) {
      const value = changed[next++];
      if (value !== undefined) values[row] = value;
    }
  }
}
