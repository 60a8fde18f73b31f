import { asFields, type Fields } from './fields.ts';

/** A page count beyond this is taken for nonsense: a million servers is more than any panel lists. */
const MAX_PAGES = 10_000;

/** How many pages a paged list says that it has; 1 where it doesn't say. */
export function pageCount(body: Fields | undefined): number {
  const pages = asFields(asFields(body?.['meta'])?.['pagination'])?.['total_pages'];
  if (typeof pages !== 'number' || !(pages >= 1)) return 1;
  return Math.min(Math.floor(pages), MAX_PAGES);
}
