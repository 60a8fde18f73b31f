// The title of the browser's tab.
import { count } from '../data/amounts.ts';
import { unclearTitle } from '../data/titles.ts';
import type { LiveFleet } from './live-fleet.ts';

const PAGE = 'Game servers';

/** The number of running servers, preceded by the number with problems. */
export function liveTitle({ servers, counts }: Pick<LiveFleet, 'servers' | 'counts'>): string {
  const problems = counts.get('attention:any');
  const unclear = counts.get('verdict:unclear');
  const unread = counts.get('data:unread');
  const parts = [
    `${count(counts.get('state:running') ?? 0)}/${count(servers.length)} running`,
    ...(unread === undefined ? [] : [`${count(unread)} not read yet`]),
    ...(unclear === undefined ? [] : [`${count(unclear)} ${unclearTitle(unclear)}`]),
  ];
  const title = `${parts.join(', ')} · ${PAGE}`;
  return problems === undefined ? title : `(${count(problems)}) ${title}`;
}

/** The title while the connection is lost, without outdated numbers. */
export function lostTitle(since: string): string {
  return `No connection since ${since} · ${PAGE}`;
}
