// The servers that a view shows, in order.
import { ATTENTION_CODES } from '../data/attention-codes.ts';
import type { LiveServer } from '../data/live-fields.ts';
import type { LiveFleet } from './live-fleet.ts';
import { matches } from './search.ts';
import { parseSort, SORTS } from './sorting.ts';
import { judgeServer, listTraits, VERDICT_CODES } from './traits.ts';
import type { View } from './view.ts';

const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });

/** The servers of a view. Servers without a value come last in both directions. */
export function order(
  { servers }: Pick<LiveFleet, 'servers'>,
  { q, show, sort }: Omit<View, 'open'>,
): readonly LiveServer[] {
  const terms = q.toLowerCase().split(/\s+/).filter(Boolean);
  const chosen = servers.filter(
    (server) => (show === '' || listTraits(server).includes(show)) && matches(server, terms),
  );
  const { key, direction } = parseSort(sort);
  const of = key === undefined ? urgencyRank : SORTS[key].of;
  const sign = direction === 'descending' ? -1 : 1;
  const valued = chosen.map((server) => ({ server, value: of(server) }));
  return valued.sort((a, b) => compare(a.value, b.value, sign)).map(({ server }) => server);
}

function compare(a: string | number | undefined, b: string | number | undefined, sign: number): number {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? 1 : -1;
  return sign * (typeof a === 'number' && typeof b === 'number' ? a - b : collator.compare(`${a}`, `${b}`));
}

/**
 * Problems that count come first, by urgency, then the other verdicts, then servers in the
 * configured order.
 */
function urgencyRank(server: LiveServer): number {
  const { attention } = server;
  if (attention !== undefined) return ATTENTION_CODES.indexOf(attention);
  const verdict = judgeServer(server);
  const rank = verdict === undefined ? VERDICT_CODES.length : VERDICT_CODES.indexOf(verdict);
  return ATTENTION_CODES.length + rank;
}
