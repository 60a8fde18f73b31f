/** The cells of one row. */
export type Cells = readonly string[];

/** Formats rows as lines with aligned cells. */
export function columns(rows: readonly Cells[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

export function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ');
}
