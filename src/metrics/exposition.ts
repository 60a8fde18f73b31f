// Renders metric families in Prometheus' text format.

import type { Clock } from '../domain/clock.ts';
import type { FleetReading } from '../domain/reading.ts';
import type { Snapshot } from '../domain/snapshot.ts';
import { compatibilityFamilies } from './compatibility.ts';
import { type Family, PANEL_FAMILIES, SERVER_FAMILIES, viewPanel } from './families.ts';
import { compatibleServerLabels, label, serverLabels } from './labels.ts';

/** The content type of the text format, exactly as Prometheus requests it. */
export const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * Subjects per block of text: enough to make a block's overhead negligible, but few enough that the
 * string is written before the garbage collector moves it.
 */
const BLOCK_SUBJECTS = 16;

/** A sample value in the text format, spelled as prom-client spells it. */
export function formatValue(value: number): string {
  if (Number.isFinite(value)) return `${value}`;
  if (Number.isNaN(value)) return 'Nan';
  return value < 0 ? '-Inf' : '+Inf';
}

function ownLabels(names: readonly string[], values: readonly (string | undefined)[]): string {
  let text = '';
  for (const [index, name] of names.entries()) {
    const value = values[index];
    if (value !== undefined) text += `,${label(name, value)}`;
  }
  return text;
}

function header({ name, help, type }: Family<never>): string {
  const text = help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return `# HELP ${name} ${text}\n# TYPE ${name} ${type}\n`;
}

/**
 * Renders one family for all subjects, block by block. `labels` contains the subjects' common
 * labels in the same order.
 */
export function* renderFamily<Subject>(
  family: Family<Subject>,
  subjects: readonly Subject[],
  labels: readonly string[],
): Generator<string, void, undefined> {
  const { name, read, labels: ownNames } = family;
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
 * The fleet's families in the text format, block by block, separated by empty lines. A block is a
 * bounded piece of work and may be empty. `compatibility` is the prefix of another exporter's
 * families, if they are included.
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
    snapshots.push(reading.scraped(now, clock));
    labels.push(serverLabels(reading.target));
  }
  for (const family of SERVER_FAMILIES) {
    yield* renderFamily(family, snapshots, labels);
    yield '\n';
  }
  const panels = fleet.panels().map((panel) => viewPanel(panel, now, clock));
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
    const text = compatibleServerLabels(snapshot.target);
    // These labels don't include the panel, so a server that two panels list would have duplicate
    // series.
    if (!labels.has(text)) labels.set(text, snapshot);
  }
  const subjects = [...labels.values()];
  const texts = [...labels.keys()];
  for (const family of compatibilityFamilies(prefix)) {
    yield '\n';
    yield* renderFamily(family, subjects, texts);
  }
}
