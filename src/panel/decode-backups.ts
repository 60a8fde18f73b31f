import { asFields, asText, ShapeError } from './fields.ts';
import { pageCount } from './page-count.ts';

/** A backup that was completed successfully. */
export interface Backup {
  /** Unix time in milliseconds. */
  readonly completedAtMs: number;
  /** Absent where the panel doesn't say. */
  readonly bytes?: number;
}

/** One page of a server's backups. */
export interface BackupsPage {
  /** Those that were completed successfully; one that is being made or that failed is none. */
  readonly backups: readonly Backup[];
  readonly totalPages: number;
}

/**
 * The backups on one page of a server's list, in the panel's order.
 *
 * @throws ShapeError where the body holds no list
 */
export function decodeBackupsPage(body: unknown): BackupsPage {
  const page = asFields(body);
  const data = page?.['data'];
  if (!Array.isArray(data)) throw new ShapeError('expected an array "data"');
  return {
    backups: data.map(decodeEntry).filter((backup) => backup !== undefined),
    totalPages: pageCount(page),
  };
}

function decodeEntry(entry: unknown): Backup | undefined {
  const attributes = asFields(asFields(entry)?.['attributes']);
  const completedAt = asText(attributes?.['completed_at']);
  if (attributes?.['is_successful'] !== true || completedAt === undefined) return undefined;
  const completedAtMs = Date.parse(completedAt);
  if (Number.isNaN(completedAtMs)) return undefined;
  const bytes = attributes['bytes'];
  const isSize = typeof bytes === 'number' && bytes >= 0 && bytes <= Number.MAX_SAFE_INTEGER;
  return { completedAtMs, ...(isSize && { bytes }) };
}
