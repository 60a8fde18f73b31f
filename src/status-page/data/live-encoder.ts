import type { Clock } from '../../domain/clock.ts';
import {
  CONDITIONS,
  type ServerReading,
  STOP_REASONS,
  shownProblem,
  shownQuery,
} from '../../domain/reading.ts';
import {
  BLOCKED_REASONS,
  finiteLimit,
  identityOf,
  type Limits,
  MIB,
  memoryLimitOf,
  type Sample,
  SERVER_STATES,
  type ServerTarget,
} from '../../domain/server.ts';
import { backupsOf } from '../../metrics/server-view.ts';
import { ATTENTION, unwantedStops } from './attention.ts';
import type { Entry } from './ledger.ts';
import { CAUSE_WORDS, placeOf } from './problems.ts';
import {
  COLUMNS,
  type Column,
  type Delta,
  type Full,
  type Identities,
  LIVE_SECONDS,
  type PanelStatus,
  SOURCES,
} from './protocol.ts';
import { serverAttention } from './server-attention.ts';

const WORDS: Full['words'] = {
  states: SERVER_STATES,
  conditions: CONDITIONS,
  blocked: BLOCKED_REASONS,
  causes: CAUSE_WORDS,
  attention: ATTENTION,
  stopReasons: STOP_REASONS,
};

/** The input of the encoder: the fleet at one instant. */
export interface Picture {
  readonly entries: readonly Entry[];
  readonly panels: readonly PanelStatus[];
  readonly now: number;
}

/**
 * Encodes the fleet for viewers: everything once, then the changes. It remembers what was sent last, so that a new viewer
 * can be given everything at any time and then receive the same changes as all others.
 */
export class LiveEncoder {
  readonly #clock: Pick<Clock, 'toUnixMs'>;
  readonly #version: string;
  readonly #targets: readonly ServerTarget[];
  readonly #columns: readonly Float64Array[];
  readonly #trouble: string[];
  readonly #nodes: string[];
  readonly #row = new Float64Array(COLUMNS.length);
  #panels: readonly PanelStatus[] = [];
  #panelsText = '';
  #time = 0;

  /** Creates an encoder for the servers in this picture; other servers need another encoder. */
  constructor(picture: Picture, version: string, clock: Pick<Clock, 'toUnixMs'>) {
    const { entries } = picture;
    this.#clock = clock;
    this.#version = version;
    this.#targets = entries.map(({ reading }) => reading.target);
    this.#columns = COLUMNS.map(() => new Float64Array(entries.length).fill(Number.NaN));
    this.#trouble = entries.map(({ reading }) => troubleOf(reading, picture.now));
    this.#nodes = entries.map(({ reading }) => reading.node ?? '');
    this.#time = this.#secondOf(picture.now);
    this.#panelChange(picture.panels);
    for (const [at, entry] of entries.entries()) this.#compare(at, entry, picture.now);
  }

  /** Whether the encoder was created for these servers, under their current names. */
  fits(entries: readonly Entry[]): boolean {
    const targets = this.#targets;
    return (
      entries.length === targets.length && entries.every(({ reading }, at) => reading.target === targets[at])
    );
  }

  /** Records a later picture of the same servers, and returns what changed. */
  delta({ entries, panels, now }: Picture): Delta {
    this.#time = this.#secondOf(now);
    const columns = COLUMNS.map(() => new PatchWriter<number>());
    const trouble = new PatchWriter<string>();
    const nodes = new PatchWriter<string>();
    for (const [at, entry] of entries.entries()) {
      this.#compare(at, entry, now, columns);
      writeText(this.#trouble, at, troubleOf(entry.reading, now), trouble);
      writeText(this.#nodes, at, entry.reading.node ?? '', nodes);
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
      ...(nodes.patch === undefined ? {} : { node: nodes.patch }),
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
      node: this.#nodes,
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

function troubleOf(reading: ServerReading, now: number): string {
  return shownProblem(reading, now)?.detail ?? '';
}

function writeText(sent: string[], at: number, text: string, patch: PatchWriter<string>): void {
  if (text === sent[at]) return;
  sent[at] = text;
  patch.add(at, text);
}

class PatchWriter<Value> {
  readonly #runs: number[] = [];
  readonly #values: Value[] = [];
  /** The row after the last changed one, and the number of consecutive changed rows before it. */
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

  /** Undefined if nothing was added. */
  get patch(): readonly [number[], Value[]] | undefined {
    return this.#length === 0 ? undefined : [[...this.#runs, this.#length], this.#values];
  }
}

function identities(targets: readonly ServerTarget[]): Identities {
  return {
    panel: targets.map((target) => target.panel),
    id: targets.map(identityOf),
    uuid: targets.map((target) => target.uuid ?? ''),
    name: targets.map((target) => target.name),
    egg: targets.map((target) => target.egg ?? ''),
    labels: targets.map(({ labels }) =>
      Object.entries(labels)
        .map(([name, value]) => `${name}=${value}`)
        .join(' '),
    ),
  };
}

const UNKNOWN = -1;

/** Writes the column values of a server at the monotonic instant `now` into `row`, in the order of the columns. */
function fillRow(row: Float64Array, entry: Entry, now: number, clock: Pick<Clock, 'toUnixMs'>): void {
  const { reading, traffic } = entry;
  const { target, status, sampledAt } = reading;
  const sample = reading.isFresh(now) ? reading.sample : undefined;
  const state = sample === undefined ? 'unknown' : reading.state;
  const limits = sample === undefined ? NO_LIMITS : limitsOf(target.limits, sample);
  row.fill(UNKNOWN);
  row[0] = SERVER_STATES.indexOf(state);
  row[1] = CONDITIONS.indexOf(status.condition);
  row[2] = status.blocked === undefined ? UNKNOWN : BLOCKED_REASONS.indexOf(status.blocked);
  row[3] = placeOf(shownProblem(reading, now)?.cause);
  row[4] = reading.source === undefined ? UNKNOWN : SOURCES.indexOf(reading.source);
  row[5] = scaled(sample?.cpuCores, 100);
  row[6] = scaled(limits.cpuCores, 100);
  row[7] = shortened((sample?.memoryBytes ?? Number.NaN) / MIB, 3);
  row[8] = scaled(limits.memoryBytes, 1 / MIB);
  row[9] = shortened((sample?.diskBytes ?? Number.NaN) / MIB, 3);
  row[10] = scaled(limits.diskBytes, 1 / MIB);
  const at = sampledAt ?? Number.NaN;
  row[11] = sample === undefined ? UNKNOWN : shortened(traffic.receiveRate(sample, at), 2);
  row[12] = sample === undefined ? UNKNOWN : shortened(traffic.transmitRate(sample, at), 2);
  row[13] = sampledSecond(sampledAt, now, clock);
  const startedAt = sample === undefined ? undefined : reading.startedAt;
  row[14] = startedAt === undefined ? UNKNOWN : Math.round(clock.toUnixMs(startedAt) / 1_000);
  const isExpected = reading.expected(now);
  row[15] = isExpected === undefined ? UNKNOWN : Number(isExpected);
  const query = shownQuery(reading, now);
  row[PLACES.players] = query?.players ?? UNKNOWN;
  row[PLACES.playersMax] = query?.playersMax ?? UNKNOWN;
  fillStops(row, entry, sample, now, clock);
  fillBackups(row, reading, now);
}

const PLACES = Object.fromEntries(COLUMNS.map((column, place) => [column, place])) as Record<Column, number>;

function fillStops(
  row: Float64Array,
  entry: Entry,
  sample: Sample | undefined,
  now: number,
  clock: Pick<Clock, 'toUnixMs'>,
): void {
  const { reading, lastCrash } = entry;
  const { lastStop } = reading;
  const attention = serverAttention(reading, now, entry, sample);
  row[PLACES.attention] = attention === undefined ? UNKNOWN : ATTENTION.indexOf(attention);
  if (lastStop !== undefined) {
    row[PLACES.stopReason] = STOP_REASONS.indexOf(lastStop.reason);
    row[PLACES.stopped] = Math.round(clock.toUnixMs(lastStop.at) / 1_000);
    row[PLACES.exitCode] = lastStop.exitCode ?? UNKNOWN;
  }
  if (lastCrash !== undefined) {
    row[PLACES.crashReason] = STOP_REASONS.indexOf(lastCrash.reason);
    row[PLACES.crashed] = Math.round(clock.toUnixMs(lastCrash.at) / 1_000);
    row[PLACES.crashExitCode] = lastCrash.exitCode ?? UNKNOWN;
  }
  row[PLACES.crashes] = unwantedStops(entry.unwantedStops, now).length;
  row[PLACES.starts] = reading.starts;
}

function fillBackups(row: Float64Array, reading: ServerReading, now: number): void {
  const backups = backupsOf(reading, now);
  row[PLACES.backups] = backups?.count ?? UNKNOWN;
  row[PLACES.backedUp] = scaled(backups?.lastSuccessUnixMs, 1 / 1_000);
  row[PLACES.backupFailed] = scaled(backups?.lastFailureUnixMs, 1 / 1_000);
  row[PLACES.backupSize] = shortened((backups?.lastSizeBytes ?? Number.NaN) / MIB, 3);
}

const NO_LIMITS = { cpuCores: undefined, memoryBytes: undefined, diskBytes: undefined };

// The same limits as in the metrics, which a test verifies; a full view of each server would cost more than everything else.
function limitsOf(limits: Limits, sample: Sample) {
  return {
    cpuCores: finiteLimit(limits.cpuCores),
    memoryBytes: finiteLimit(memoryLimitOf(limits, sample.memoryLimitBytes)),
    diskBytes: finiteLimit(limits.diskBytes),
  };
}

function scaled(value: number | undefined, factor: number): number {
  return value === undefined ? UNKNOWN : Math.round(value * factor);
}

/** A whole number rounded to this many significant digits, as displayed: more digits would be sent but not seen. */
export function shortened(value: number, digits: number): number {
  if (!(value >= 0)) return UNKNOWN;
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(value)) + 1 - digits);
  return Math.round(value / unit) * unit;
}

function sampledSecond(sampledAt: number | undefined, now: number, clock: Pick<Clock, 'toUnixMs'>): number {
  if (sampledAt === undefined) return UNKNOWN;
  if (now - sampledAt < LIVE_SECONDS * 1_000) return 0;
  return Math.floor(clock.toUnixMs(sampledAt) / 1_000);
}
