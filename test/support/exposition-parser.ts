// A strict parser of Prometheus' text format.

/** A line with a value. */
interface ParsedSeries {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A metric family. */
export interface ParsedFamily {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly series: readonly ParsedSeries[];
}

const HELP = /^# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) ((?:[^\\]|\\[\\n])*)$/s;
const TYPE = /^# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram|summary|untyped)$/;
const SERIES = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/s;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\[\\n"])*)"(?:,|$)/sy;
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/**
 * Parses the text format, version 0.0.4, more strictly than Prometheus: each family once, HELP
 * before TYPE before the series, no duplicate series, no unnecessary spaces. Throws at the first
 * violation.
 */
export function parseExposition(text: string): ParsedFamily[] {
  if (!text.endsWith('\n')) throw new Error('the last line must end with a line feed');
  const families: (ParsedFamily & { series: ParsedSeries[] })[] = [];
  const names = new Set<string>();
  const seen = new Set<string>();
  let help: RegExpExecArray | null = null;
  for (const line of text.slice(0, -1).split('\n')) {
    if (line === '') continue;
    if (line.startsWith('# HELP ')) {
      help = HELP.exec(line);
      if (help === null) throw new Error(`bad help: ${line}`);
      continue;
    }
    if (line.startsWith('#')) {
      const [, name = '', type = ''] = TYPE.exec(line) ?? [];
      if (help === null || name !== help[1]) throw new Error(`expected a type after its help: ${line}`);
      if (names.has(name)) throw new Error(`family twice: ${name}`);
      names.add(name);
      families.push({ name, type, help: unescape(help[2] ?? ''), series: [] });
      help = null;
      continue;
    }
    const family = families.at(-1);
    if (family === undefined || help !== null) throw new Error(`series without a family: ${line}`);
    const series = parseSeries(line, family);
    const key = keyOf(series.name, series.labels);
    if (seen.has(key)) throw new Error(`series twice: ${line}`);
    seen.add(key);
    family.series.push(series);
  }
  return families;
}

/** The value of the series with exactly these labels; undefined if there is none. */
export function valueOf(
  families: readonly ParsedFamily[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const wanted = keyOf(name, labels);
  return families
    .flatMap((family) => family.series)
    .find((series) => keyOf(series.name, series.labels) === wanted)?.value;
}

function keyOf(name: string, labels: Readonly<Record<string, string>>): string {
  const byName = Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([name, byName]);
}

function parseSeries(line: string, family: ParsedFamily): ParsedSeries {
  const [, name = '', labels = '', value = ''] = SERIES.exec(line) ?? [];
  const suffix = name.startsWith(family.name) ? name.slice(family.name.length) : undefined;
  const suffixes = family.type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
  if (suffix === undefined || !suffixes.includes(suffix)) {
    throw new Error(`series outside of its family ${family.name}: ${line}`);
  }
  return { name, labels: parseLabels(labels), value: parseValue(value) };
}

function parseLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < text.length) {
    const at = LABEL.lastIndex;
    const [, name, value = ''] = LABEL.exec(text) ?? [];
    if (name === undefined) throw new Error(`bad label at ${at}: ${text}`);
    if (Object.hasOwn(labels, name)) throw new Error(`label twice: ${name}`);
    Object.defineProperty(labels, name, { value: unescape(value), enumerable: true });
  }
  return labels;
}

function unescape(text: string): string {
  return text.replace(/\\([\\n"])/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));
}

function parseValue(text: string): number {
  if (/^nan$/i.test(text)) return Number.NaN;
  if (/^[+-]?inf$/i.test(text)) return text.startsWith('-') ? -Infinity : Infinity;
  if (!NUMBER.test(text)) throw new Error(`bad value: ${text}`);
  return Number(text);
}
