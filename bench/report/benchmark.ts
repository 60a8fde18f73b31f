// A benchmark with its options and its result.

import { formatNumber, markdownTable, type Table } from './table.ts';

/** The options of the command line. Each benchmark has defaults for absent ones. */
export interface BenchmarkOptions {
  readonly servers?: number;
  /** The duration of one measurement. */
  readonly seconds?: number;
  readonly runs?: number;
  /** Whether to measure with TLS; with and without it if undefined. */
  readonly tls?: boolean;
  /** Whether to measure with renewals of tokens; with and without them if undefined. */
  readonly renewals?: boolean;
  /** The panel's rate limit in calls per minute; with and without a limit if undefined. */
  readonly limit?: number | 'none';
  /** The names of the scenes to play; all if undefined. */
  readonly scenes?: readonly string[];
  /** Whether the bare client is measured as well; true by default. */
  readonly baseline?: boolean;
  /** The folder for CPU profiles; none are taken if undefined. */
  readonly profiles?: string;
  /** Reports the current step. */
  readonly progress: (what: string) => void;
}

/** A target of the design, with the measured value. */
export interface Target {
  readonly what: string;
  readonly bound: { readonly kind: 'at most' | 'at least'; readonly value: number };
  readonly unit: string;
  readonly measured: number;
}

export interface BenchmarkResult {
  /** The method of the measurement and the meaning of the columns, in a few lines. */
  readonly method: string;
  readonly tables: readonly Table[];
  readonly targets: readonly Target[];
}

export interface Benchmark {
  readonly name: string;
  readonly title: string;
  readonly run: (options: BenchmarkOptions) => Promise<BenchmarkResult>;
}

/** A result as text. */
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
