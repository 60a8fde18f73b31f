import { type ChartSeries, type RecentHistory, STEP_SECONDS, type StopCounts } from '../../domain/reading.ts';
import { identityOf } from '../../domain/server.ts';
import { arrayText, inBlocks } from './json-text.ts';
import type { BoardSource } from './panel-status.ts';

/** The last five minutes of one server, as returned by `api/v1/history`. */
export interface HistoryView extends RecentHistory {
  readonly panel: string;
  readonly server_id: string;
  readonly step_seconds: number;
  /** The number of stops since the exporter started, by reason. */
  readonly stops: StopCounts;
}

/** The histories of the servers with these keys, in their order, in blocks of text. */
export function* historyText(
  { fleet, clock }: BoardSource,
  keys: readonly string[],
  wanted: readonly ChartSeries[],
): Generator<string, void, void> {
  const now = clock.now();
  const keyed = yield* inBlocks(fleet.servers(), (server) => {
    const { panel, id } = server.target;
    return [keyOf(`${panel}/${id}`), server] as const;
  });
  const byKey = new Map(keyed);
  const servers = keys.flatMap((key) => byKey.get(keyOf(key)) ?? []);
  yield '{"servers":';
  yield* arrayText(servers, (server): HistoryView => {
    const { series, ...history } = server.history(now, clock);
    return {
      panel: server.target.panel,
      server_id: identityOf(server.target),
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

/** The same for a server's short and its full id. */
function keyOf(key: string): string {
  const slash = key.lastIndexOf('/');
  return `${key.slice(0, slash)}/${identityOf({ id: key.slice(slash + 1) })}`;
}
