import type { ListingType } from '../domain/discovery.ts';
import type { ServerTarget } from '../domain/server.ts';
import type { ListedServer, ListingPage } from '../panel/decode-listing.ts';
import { type Attempt, attempt, failedCall } from './attempt.ts';
import type { Contact } from './panel-cause.ts';
import type { PanelLine } from './panel-line.ts';
import { type Finding, failed, type PanelStep, passed } from './report.ts';

/** Servers that are found in a panel's listing, beside those in the configuration. */
export interface Discovery {
  readonly type?: ListingType;
  /** All servers to try, given those that are listed. */
  readonly targets: (listed: readonly ListedServer[]) => readonly ServerTarget[];
}

/** The most that panels give on a page. */
const PER_PAGE = 100;

/** What a walk through the listing found, and the error that ended it where one did. */
export interface Walk {
  readonly listed: readonly ListedServer[];
  readonly ended?: Extract<Attempt<unknown>, { ok: false }>;
}

/** The listing's first page, which tells how many there are. */
export function firstPage(
  line: PanelLine,
  { type }: Discovery,
  signal: AbortSignal,
): Promise<Attempt<ListingPage>> {
  return askPage(line, type, 1, signal);
}

/** Every listed server, from the first page on; what was found before a page that failed counts. */
export async function walkOn(
  line: PanelLine,
  { type }: Discovery,
  first: Attempt<ListingPage>,
  signal: AbortSignal,
): Promise<Walk> {
  if (!first.ok) return { listed: [], ended: first };
  const listed = [...first.value.servers];
  for (let page = 2; page <= first.value.totalPages; page += 1) {
    const next = await askPage(line, type, page, signal);
    if (!next.ok) return { listed, ended: next };
    listed.push(...next.value.servers);
  }
  return { listed };
}

function askPage(
  line: PanelLine,
  type: ListingType | undefined,
  page: number,
  signal: AbortSignal,
): Promise<Attempt<ListingPage>> {
  const query = { page, perPage: PER_PAGE, ...(type === undefined ? {} : { type }) };
  return attempt(line.listing(query, signal));
}

/** What the walk says of the panel, when so many servers came of it that are to be tried. */
export function listingFinding(
  { listed, ended }: Walk,
  targets: number,
  contact: Contact,
): Finding<PanelStep> {
  if (ended !== undefined) return failedCall('listing', ended.error, contact);
  if (targets === 0) {
    return failed(
      'listing',
      'nothing_listed',
      `${listed.length} servers are listed, and none of them is wanted`,
    );
  }
  return passed('listing', `${listed.length} servers listed, ${targets} to try`);
}
