import type { Clock } from '../domain/clock.ts';
import type { FleetReading, Snapshot } from '../domain/reading.ts';
import { identityOf, type ServerTarget } from '../domain/server.ts';
import { COMPATIBILITY_PREFIXES, compatibilityFamilies, compatibilityLabels } from './compatibility.ts';
import {
  type Family,
  PANEL_FAMILIES,
  panelViewOf,
  SERVER_FAMILIES,
  SERVER_PREFIX,
  type Stability,
} from './families.ts';
import { type Blocks, type Encoding, type RenderedBody, renderBody } from './rendered-body.ts';
import type { SelfMetrics } from './self.ts';
import { PANEL_GAUGES, SELF_FAMILIES } from './self-families.ts';
import { SCRAPES, SharedBodies } from './shared-bodies.ts';

const SELF_TABLE = [...Object.values(SELF_FAMILIES), ...PANEL_GAUGES];

/** The headings of the tables, and what the names of the families in each begin with; the first that fits counts. */
const GROUPS: readonly (readonly [title: string, beginning: RegExp])[] = [
  ['State', /^(?:info|state|start_time|expected_running)/],
  ['Starts, stops and uptime', /^(?:starts|stops|last_stop|last_exit|automatic_restart|running|observed)/],
  ['CPU, memory and disk', /^(?:cpu|memory|disk)/],
  ['Network and console', /^(?:network|console)/],
  ['Data', /^(?:collection|blocked|last_sample)/],
  ['Backups', /^backup/],
  ['Schedules', /^schedule/],
  ['Players', /^(?:players|bots|query)/],
  ['Panels and nodes', /^(?:panel|node)/],
];

/**
 * The Markdown tables of the metrics about servers and panels; end with a newline. Omit the labels that all series of a server
 * have, because the surrounding text names them once.
 */
export function renderMetricTables(): string {
  const rows = [
    ...SERVER_FAMILIES.map((family) => row(family, family.labels ?? [])),
    ...PANEL_FAMILIES.map((family) => row(family, ['panel', ...(family.labels ?? [])])),
  ];
  const groupOf = ([name = '']: readonly string[]) =>
    GROUPS.find(([, beginning]) => beginning.test(name.replace(`\`${SERVER_PREFIX}`, '')));
  return GROUPS.map(
    (group) => `### ${group[0]}\n\n${table(rows.filter((found) => groupOf(found) === group))}`,
  ).join('\n');
}

/** The Markdown table of the exporter's metrics about itself; ends with a newline. */
export function renderSelfMetricTable(): string {
  return table(SELF_TABLE.map((family) => row(family, family.labels)));
}

/** The Markdown table of the names of pterodactyl_exporter and their replacements; ends with a newline. */
export function renderCompatibilityTable(): string {
  const families = compatibilityFamilies(COMPATIBILITY_PREFIXES.pterodactyl_exporter);
  const rows = families.map(({ name, replacement }) => [
    code(name),
    replacement === '' ? 'none' : code(replacement),
  ]);
  return table(rows, ['old name', 'the same value in PromQL']);
}

function row(
  { name, stability, help }: { name: string; stability: Stability; help: string },
  labels: readonly string[],
): string[] {
  return [code(name), labels.map(code).join(', '), stability === 'stable' ? help : `(${stability}) ${help}`];
}

function table(
  rows: readonly string[][],
  header: readonly string[] = ['metric', 'labels', 'meaning'],
): string {
  return [header, header.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`)
    .join('');
}

function code(text: string): string {
  return `\`${text}\``;
}

/** The content type of the text format, exactly as Prometheus requests it. */
export const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * Subjects per block of text: enough to make the overhead of a block negligible, and few enough that its
 * string is written out before the garbage collector has to move it.
 */
const BLOCK_SUBJECTS = 16;

/** A label value, escaped as the text format requires between quotes. */
function escapeLabelValue(value: string): string {
  if (!/[\\"\n\uD800-\uDFFF]/.test(value)) return value;
  return value
    .replace(/\p{Surrogate}/gu, '\uFFFD') // a lone surrogate can't be encoded in UTF-8
    .replaceAll('\\', '\\\\')
    .replaceAll('\n', '\\n')
    .replaceAll('"', '\\"');
}

/** A sample value in the text format, spelled as prom-client spells it. */
export function formatValue(value: number): string {
  if (Number.isFinite(value)) return `${value}`;
  if (Number.isNaN(value)) return 'Nan';
  return value < 0 ? '-Inf' : '+Inf';
}

function label(name: string, value: string): string {
  return `${name}="${escapeLabelValue(value)}"`;
}

// A target is never changed, only replaced, so its labels are rendered once and are freed with it.
const labelsByTarget = new WeakMap<ServerTarget, string>();

function serverLabels(target: ServerTarget): string {
  let labels = labelsByTarget.get(target);
  if (labels === undefined) {
    labels = [
      label('panel', target.panel),
      label('server', target.name),
      label('server_id', identityOf(target)),
      ...Object.entries(target.labels).map(([name, value]) => label(name, value)),
    ].join(',');
    labelsByTarget.set(target, labels);
  }
  return labels;
}

const otherLabelsByTarget = new WeakMap<ServerTarget, string>();

function otherLabels(target: ServerTarget): string {
  let labels = otherLabelsByTarget.get(target);
  if (labels === undefined) {
    labels = Object.entries(compatibilityLabels(target))
      .map(([name, value]) => label(name, value))
      .join(',');
    otherLabelsByTarget.set(target, labels);
  }
  return labels;
}

function ownLabels(names: readonly string[], values: readonly (string | undefined)[]): string {
  let text = '';
  for (const [index, name] of names.entries()) {
    const value = values[index];
    if (value !== undefined) text += `,${label(name, value)}`;
  }
  return text;
}

function header({ name, help, type }: Pick<Family<never>, 'name' | 'help' | 'type'>): string {
  const text = help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return `# HELP ${name} ${text}\n# TYPE ${name} ${type}\n`;
}

/** Renders one family over subjects whose common labels are given in the same order, block by block. */
export function* renderFamily<Subject>(
  family: Family<Subject>,
  subjects: readonly Subject[],
  labels: readonly string[],
): Generator<string, void, undefined> {
  const { name, read, labels: ownNames = [] } = family;
  let block = header(family);
  for (const [index, subject] of subjects.entries()) {
    if (index % BLOCK_SUBJECTS === 0) {
      yield block;
      block = '';
    }
    const value = read(subject);
    if (value === undefined) continue;
    if (typeof value === 'number') {
      block += `${name}{${labels[index]}} ${formatValue(value)}\n`;
      continue;
    }
    for (const [ownValues, rowValue] of value) {
      block += `${name}{${labels[index]}${ownLabels(ownNames, ownValues)}} ${formatValue(rowValue)}\n`;
    }
  }
  yield block;
}

/**
 * The fleet's families in the text format, block by block, separated by empty lines. A block is a bounded
 * piece of work and may be empty. `compatibility` is the prefix of another exporter's families, if they are added.
 */
export function* renderFleet(
  fleet: FleetReading,
  clock: Clock,
  compatibility?: string,
): Generator<string, void, undefined> {
  const now = clock.now();
  const snapshots: Snapshot[] = [];
  const labels: string[] = [];
  for (const [index, reading] of fleet.servers().entries()) {
    if (index % BLOCK_SUBJECTS === 0) yield '';
    snapshots.push(reading.snapshot(now, clock));
    labels.push(serverLabels(reading.target));
  }
  for (const family of SERVER_FAMILIES) {
    yield* renderFamily(family, snapshots, labels);
    yield '\n';
  }
  const panels = fleet.panels().map((panel) => panelViewOf(panel, now));
  const panelLabels = panels.map((panel) => label('panel', panel.name));
  for (const [index, family] of PANEL_FAMILIES.entries()) {
    if (index > 0) yield '\n';
    yield* renderFamily(family, panels, panelLabels);
  }
  if (compatibility !== undefined) yield* renderCompatibility(snapshots, compatibility);
}

/** The families under the names of another exporter, each after an empty line. */
function* renderCompatibility(
  snapshots: readonly Snapshot[],
  prefix: string,
): Generator<string, void, undefined> {
  const labels = new Map<string, Snapshot>();
  for (const [index, snapshot] of snapshots.entries()) {
    if (index % BLOCK_SUBJECTS === 0) yield '';
    const text = otherLabels(snapshot.target);
    // These labels don't include the panel, so a server listed under two panels would have duplicate series.
    if (!labels.has(text)) labels.set(text, snapshot);
  }
  const subjects = [...labels.values()];
  const texts = [...labels.keys()];
  for (const family of compatibilityFamilies(prefix)) {
    yield '\n';
    yield* renderFamily(family, subjects, texts);
  }
}

interface ScraperOptions {
  readonly fleet: FleetReading;
  readonly self: Pick<SelfMetrics, 'metrics'>;
  readonly clock: Clock;
  /** The prefix of another exporter's families, if they are added. Called at every render. */
  readonly compatibility?: () => string | undefined;
}

/** Renders the fleet's and the exporter's own metrics. */
export class Scraper {
  readonly #options: ScraperOptions;
  readonly #shared: SharedBodies;

  constructor(options: ScraperOptions) {
    this.#options = options;
    this.#shared = new SharedBodies(options.clock, SCRAPES);
  }

  /** The current exposition, or one whose render began at most 50 ms ago. */
  scrape(encoding: Encoding): Promise<RenderedBody> {
    return this.#shared.get(encoding, () => renderBody(this.#blocks(), encoding, 'scrape'));
  }

  *#blocks(): Blocks {
    const { fleet, self, clock, compatibility } = this.#options;
    yield* renderFleet(fleet, clock, compatibility?.());
    yield self.metrics().then((text) => `\n${text}`);
  }
}
