// The data about a server in an open row of the page.
import { type ChartSeries, type RecentHistory, STEP_SECONDS } from '../../domain/recent-history.ts';
import { shortId } from '../../domain/server-ids.ts';
import type { StopCounts } from '../../domain/stops.ts';
import { arrayText } from './blocks.ts';
import type { BoardSource } from './board-source.ts';
import { withIdentity } from './servers-by-id.ts';

/** The last five minutes of one server, as returned by `api/v1/history`. */
export interface HistoryView extends RecentHistory {
  readonly panel: string;
  readonly server_id: string;
  /** `host:port` for players, from the panel's server list; absent if unknown. */
  readonly address?: string | undefined;
  readonly step_seconds: number;
  /** The number of stops since the exporter started, by reason. */
  readonly stops: StopCounts;
}

/**
 * The histories of the servers `<panel>/<id>` in this order, as JSON in blocks of text. The ids may
 * be short or full, and unknown servers are absent.
 */
export function* historyText(
  { fleet, clock }: BoardSource,
  keys: readonly string[],
  wanted: readonly ChartSeries[],
): Generator<string, void, void> {
  const now = clock.now();
  const all = fleet.servers();
  const servers = keys.flatMap((key) => {
    const slash = key.lastIndexOf('/');
    const [panel, id] = [key.slice(0, slash), shortId({ id: key.slice(slash + 1) })];
    return withIdentity(all, id).find(({ target }) => target.panel === panel) ?? [];
  });
  yield '{"servers":';
  yield* arrayText(servers, (server): HistoryView => {
    const { target } = server;
    const { series, ...history } = server.history(now, clock);
    return {
      panel: target.panel,
      server_id: shortId(target),
      address: target.address,
      step_seconds: STEP_SECONDS,
      ...history,
      series: Object.fromEntries(
        wanted.flatMap((name) => (series[name] === undefined ? [] : [[name, series[name]]])),
      ),
      stops: server.snapshot(now, clock).stops,
    };
  });
  yield '}';
}
