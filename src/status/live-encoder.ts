import type { Clock } from '../domain/clock.ts';
import { CONDITIONS } from '../domain/collection.ts';
import { BLOCKED_REASONS, type ServerTarget } from '../domain/server.ts';
import { SERVER_STATES } from '../domain/state.ts';
import { BLOCKED_ADVICE, CONDITION_ADVICE } from './advice.ts';
import type { Entry } from './ledger.ts';
import { fillRow } from './live-row.ts';
import {
  COLUMNS,
  type Column,
  type Delta,
  type Full,
  type Identities,
  type PanelStatus,
} from './protocol.ts';

const WORDS: Full['words'] = {
  states: SERVER_STATES,
  conditions: CONDITIONS,
  blocked: BLOCKED_REASONS,
  blockedAdvice: BLOCKED_REASONS.map((reason) => BLOCKED_ADVICE[reason]),
  conditionAdvice: CONDITIONS.map((condition) => CONDITION_ADVICE[condition]),
};

/** What is to be encoded: the fleet at one instant. */
export interface Picture {
  readonly entries: readonly Entry[];
  readonly panels: readonly PanelStatus[];
  readonly now: number;
}

/**
 * Turns the fleet into what viewers are sent: everything once, then what changed since. It keeps what was sent last, so that
 * any viewer can be given the whole at any time and goes on with the same changes as all others.
 */
export class LiveEncoder {
  readonly #clock: Pick<Clock, 'toUnixMs'>;
  readonly #version: string;
  readonly #targets: readonly ServerTarget[];
  readonly #columns: readonly Float64Array[];
  readonly #trouble: string[];
  readonly #row = new Float64Array(COLUMNS.length);
  #panels: readonly PanelStatus[] = [];
  #panelsText = '';
  #time = 0;

  /** An encoder for the servers in this picture; other servers need another. */
  constructor(picture: Picture, version: string, clock: Pick<Clock, 'toUnixMs'>) {
    const { entries } = picture;
    this.#clock = clock;
    this.#version = version;
    this.#targets = entries.map(({ reading }) => reading.target);
    this.#columns = COLUMNS.map(() => new Float64Array(entries.length).fill(Number.NaN));
    this.#trouble = entries.map(() => '');
    this.#time = this.#secondOf(picture.now);
    this.#panelChange(picture.panels);
    for (const [at, entry] of entries.entries()) {
      this.#compare(at, entry, picture.now);
      this.#trouble[at] = entry.reading.status.trouble ?? '';
    }
  }

  /** Are these the servers that it was made for, named as they were? */
  fits(entries: readonly Entry[]): boolean {
    const targets = this.#targets;
    return (
      entries.length === targets.length && entries.every(({ reading }, at) => reading.target === targets[at])
    );
  }

  /** Takes on a later picture of the same servers, and gives what changed. */
  delta({ entries, panels, now }: Picture): Delta {
    this.#time = this.#secondOf(now);
    const columns = COLUMNS.map(() => new PatchWriter<number>());
    const trouble = new PatchWriter<string>();
    for (const [at, entry] of entries.entries()) {
      this.#compare(at, entry, now, columns);
      const words = entry.reading.status.trouble ?? '';
      if (words === this.#trouble[at]) continue;
      this.#trouble[at] = words;
      trouble.add(at, words);
    }
    const changed = COLUMNS.flatMap((column, index) => {
      const patch = columns[index]?.patch;
      return patch === undefined ? [] : [[column, patch] as const];
    });
    return {
      time: this.#time,
      ...this.#panelChange(panels),
      columns: Object.fromEntries(changed),
      ...(trouble.patch === undefined ? {} : { trouble: trouble.patch }),
    };
  }

  /** Everything, as of the last picture. */
  full(): Full {
    const columns = COLUMNS.map((column, index) => [column, Array.from(this.#columns[index] ?? [])] as const);
    return {
      version: this.#version,
      time: this.#time,
      words: WORDS,
      panels: this.#panels,
      servers: identities(this.#targets),
      columns: Object.fromEntries(columns) as Record<Column, number[]>,
      trouble: this.#trouble,
    };
  }

  #compare(at: number, entry: Entry, now: number, patches?: readonly PatchWriter<number>[]): void {
    const row = this.#row;
    fillRow(row, entry, now, this.#clock);
    for (let index = 0; index < row.length; index += 1) {
      const column = this.#columns[index];
      const value = row[index];
      if (column === undefined || value === undefined || column[at] === value) continue;
      column[at] = value;
      patches?.[index]?.add(at, value);
    }
  }

  #secondOf(now: number): number {
    return Math.round(this.#clock.toUnixMs(now) / 1_000);
  }

  #panelChange(panels: readonly PanelStatus[]): Pick<Delta, 'panels'> {
    const text = JSON.stringify(panels);
    if (text === this.#panelsText) return {};
    this.#panelsText = text;
    this.#panels = panels;
    return { panels };
  }
}

class PatchWriter<Value> {
  readonly #runs: number[] = [];
  readonly #values: Value[] = [];
  /** The row after the last that changed, and how many did in a row up to it. */
  #end = 0;
  #length = 0;

  add(at: number, value: Value): void {
    if (at > this.#end || this.#length === 0) {
      this.#endRun();
      this.#runs.push(at - this.#end);
      this.#length = 0;
    }
    this.#length += 1;
    this.#end = at + 1;
    this.#values.push(value);
  }

  #endRun(): void {
    if (this.#length > 0) this.#runs.push(this.#length);
  }

  /** Undefined where nothing was added. */
  get patch(): readonly [number[], Value[]] | undefined {
    return this.#length === 0 ? undefined : [[...this.#runs, this.#length], this.#values];
  }
}

function identities(targets: readonly ServerTarget[]): Identities {
  return {
    panel: targets.map((target) => target.panel),
    id: targets.map((target) => target.id),
    name: targets.map((target) => target.name),
    node: targets.map((target) => target.node ?? ''),
    egg: targets.map((target) => target.egg ?? ''),
    labels: targets.map(({ labels }) =>
      Object.entries(labels)
        .map(([name, value]) => `${name}=${value}`)
        .join(' '),
    ),
    expected: targets.map((target) => (target.expect === 'running' ? 1 : 0)),
  };
}
