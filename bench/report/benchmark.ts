import { formatNumber, markdownTable, type Table } from './table.ts';

/** The command line options of a benchmark; it chooses defaults for absent ones. */
export interface BenchmarkOptions {
  readonly servers?: number;
  /** The duration of one measurement. */
  readonly seconds?: number;
  readonly runs?: number;
  /** Only TLS, only plain, or both if undefined. */
  readonly tls?: boolean;
  /** Only with renewals of tokens, only without, or both if undefined. */
  readonly renewals?: boolean;
  /** The panel's limit in calls a minute, or none that matters; both if undefined. */
  readonly limit?: number | 'none';
  /** The names of the scenes; all if undefined. */
  readonly scenes?: readonly string[];
  /** Whether the bare client is measured as well; true by default. */
  readonly baseline?: boolean;
  /** The folder for CPU profiles; without it, none are taken. */
  readonly profiles?: string;
  /** Reports what is currently being done. */
  readonly progress: (what: string) => void;
}

/** One of the design's targets, compared with the measurement. */
export interface Target {
  readonly what: string;
  readonly bound: { readonly kind: 'at most' | 'at least'; readonly value: number };
  readonly unit: string;
  readonly measured: number;
}

export interface BenchmarkResult {
  /** How it was measured and what the columns mean, in a few lines. */
  readonly method: string;
  readonly tables: readonly Table[];
  readonly targets: readonly Target[];
}

export interface Benchmark {
  readonly name: string;
  readonly title: string;
  readonly run: (options: BenchmarkOptions) => Promise<BenchmarkResult>;
}

/** A result as printed text. */
export function formatResult({ method, tables, targets }: BenchmarkResult): string {
  const header = ['target', 'bound', 'measured', 'met'];
  const rows = targets.map(({ what, bound, unit, measured }) => [
    what,
    `${bound.kind} ${bound.value} ${unit}`.trim(),
    `${formatNumber(measured, 2)} ${unit}`.trim(),
    isMet(bound, measured) ? 'yes' : 'NO',
  ]);
  const verdict = targets.length === 0 ? [] : [markdownTable({ header, rows })];
  return [method, ...tables.map(markdownTable), ...verdict].join('\n\n');
}

function isMet({ kind, value }: Target['bound'], measured: number): boolean {
  return kind === 'at most' ? measured <= value : measured >= value;
}
