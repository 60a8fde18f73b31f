// Reads which page of a list a request is for.

import type { ApiContext, ApiHost } from './api-host.ts';

/** The requested page; undefined if the query is malformed. */
export function readPage(
  { settings }: ApiHost,
  context: ApiContext,
  defaultPerPage: number,
): { page: number; perPage: number } | undefined {
  const page = readCount(context.req.query('page'), 1);
  const perPage = readCount(context.req.query('per_page'), defaultPerPage);
  if (page === undefined || perPage === undefined) return undefined;
  return { page, perPage: Math.min(perPage, settings.maxPerPage) };
}

/** A positive integer in a query; undefined if it is malformed. */
export function readCount(text: string | undefined, fallback: number): number | undefined {
  if (text === undefined) return fallback;
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
}
