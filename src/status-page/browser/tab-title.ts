// The title of the browser's tab.
import { countText } from '../data/amounts.ts';
import { unclearTitle } from '../data/titles.ts';
import type { LiveFleet } from './live-fleet.ts';

const PAGE = 'Game servers';

/** The number of running servers, preceded by the number with problems. */
export function liveTitle({ servers, counts }: Pick<LiveFleet, 'servers' | 'counts'>): string {
  const problems = counts.get('attention:any');
  const unclear = counts.get('verdict:unclear');
  const unread = counts.get('data:unread');
  const parts = [
    `${countText(counts.get('state:running') ?? 0)}/${countText(servers.length)} running`,
    ...(unread === undefined ? [] : [`${countText(unread)} not read yet`]),
    ...(unclear === undefined ? [] : [`${countText(unclear)} ${unclearTitle(unclear)}`]),
  ];
  const title = `${parts.join(', ')} · ${PAGE}`;
  return problems === undefined ? title : `(${countText(problems)}) ${title}`;
}

/** The title while the connection is lost, without outdated numbers. */
export function lostTitle(since: string): string {
  return `No connection since ${since} · ${PAGE}`;
}
