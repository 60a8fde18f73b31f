// The limit on the files that this process may open.

/**
 * How many files this process may open; undefined if there is no limit or the system doesn't report
 * one. Node.js raises its soft limit to the hard one at startup, so this is the effective one.
 */
export function descriptorLimit(report: unknown = process.report.getReport()): number | undefined {
  const { userLimits } = report as { readonly userLimits?: { readonly open_files?: { soft?: unknown } } };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : undefined;
}
