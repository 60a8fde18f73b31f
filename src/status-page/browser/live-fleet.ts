import {
  COLUMNS,
  type Column,
  type Delta,
  type ExplainedProblem,
  type Full,
  type PanelStatus,
  type Patch,
} from '../data/protocol.ts';
import { OFF_WORDS, problemText, remedyWhile } from '../data/words.ts';

/** The fleet as the stream describes it, in columns of numbers; a server is an index into them. */
export class LiveFleet {
  readonly full: Full;
  readonly size: number;
  /** Unix seconds by the exporter's clock. */
  time: number;
  panels: readonly PanelStatus[];
  /** The detail of each server's problem. */
  readonly trouble: string[];
  readonly node: string[];
  readonly #columns: Readonly<Record<Column, number[]>>;
  readonly #places: ReadonlyMap<string, number>;

  constructor(full: Full) {
    this.full = full;
    this.size = full.servers.id.length;
    this.time = full.time;
    this.panels = full.panels;
    this.trouble = [...full.trouble];
    this.node = [...full.node];
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

  /** −1 where it is not known. */
  value(column: Column, server: number): number {
    return this.#columns[column][server] ?? -1;
  }

  name(server: number): string {
    return this.full.servers.name[server] ?? '';
  }

  /** What the exporter knows a server by. */
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

  /** Why it can't be observed; undefined while it can. */
  blocked(server: number): string | undefined {
    return this.full.words.blocked[this.value('blocked', server)];
  }

  /** What is wrong with it, and what to do; undefined if nothing is. */
  problem(server: number): ExplainedProblem | undefined {
    const words = this.full.words.causes[this.value('cause', server)];
    if (words === undefined) return undefined;
    const remedy = remedyWhile(this.condition(server), words);
    return { ...words, remedy, detail: this.trouble[server] ?? '' };
  }

  /** Seconds since its newest sample; 0 while samples keep coming, undefined before the first. */
  age(server: number): number | undefined {
    const sampled = this.value('sampled', server);
    if (sampled < 0) return undefined;
    return sampled === 0 ? 0 : Math.max(0, this.time - sampled);
  }
}

/** Is a server off that is expected to run? */
export function isDown(fleet: LiveFleet, server: number): boolean {
  const state = fleet.state(server);
  return fleet.value('expected', server) === 1 && (state === 'offline' || state === 'stopped');
}

/** A server's problem and what to do about it, in one text; empty if there is none. */
export function troubleWords(fleet: LiveFleet, server: number): string {
  const problem = fleet.problem(server);
  if (problem !== undefined) return problemText(problem);
  return isDown(fleet, server) ? OFF_WORDS : '';
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
