// Tables of results as Markdown.

import { median } from './statistics.ts';

/** A table. Every row has one cell per column. */
export interface Table {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Matches cells that contain numbers: `12`, `1.5 MB`, `3 (2–4)`. */
const NUMBER = /^(?:\d[\d.]*(?: \([^)]*\))?(?: \S+)?|n\/a|)$/;

/**
 * A Markdown table that is also readable as plain text: text is left-aligned, and numbers right.
 */
export function markdownTable({ header, rows }: Table): string {
  const widths = header.map((name, column) =>
    Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const isWords = header.map((_, column) => !rows.every((row) => NUMBER.test(row[column] ?? '')));
  const line = (cells: readonly string[]) => {
    const padded = cells.map((cell, column) => {
      const width = widths[column] ?? 0;
      return isWords[column] === true ? cell.padEnd(width) : cell.padStart(width);
    });
    return `| ${padded.join(' | ')} |`;
  };
  const rule = widths.map((width, column) =>
    isWords[column] === true ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  return [line(header), line(rule), ...rows.map(line)].join('\n');
}

/** The number with this many decimals; `n/a` if it isn't finite. */
export function formatNumber(value: number, decimals: number): string {
  return Number.isFinite(value) ? value.toFixed(decimals) : 'n/a';
}

/** The median of several runs, with the minimum and the maximum in parentheses. */
export function medianAndSpread(values: readonly number[], decimals: number): string {
  const middle = formatNumber(median(values), decimals);
  if (values.length < 2 || middle === 'n/a') return middle;
  const [lowest, highest] = [Math.min(...values), Math.max(...values)];
  return `${middle} (${formatNumber(lowest, decimals)}–${formatNumber(highest, decimals)})`;
}
