import { Component, type JSX } from 'preact';
import { isCrash, STEP_SECONDS } from '../../domain/reading.ts';
import type { HistoryView } from '../data/history-view.ts';
import type { LiveServer } from '../data/live-server.ts';
import { conditionTitle, STOP_TITLES, size, span, stateTitle, stopWords } from '../data/words.ts';
import { charts } from './charts.tsx';
import { playerWords, RESOURCES } from './columns.tsx';
import { keyOf, type LiveFleet, labelWords } from './live-fleet.ts';
import { ago, notice, time, timeOfDay } from './parts.tsx';

interface DetailsProps {
  readonly fleet: LiveFleet;
  readonly server: LiveServer;
}

/** The contents of an open row: the server's problem and what to do, large charts, its identity, and its recent state changes. */
export class Details extends Component<DetailsProps, { readonly history?: HistoryView }> {
  /** The state, stop and step for which the history was fetched. */
  #historyOf: string | undefined;

  override componentDidMount(): void {
    void this.#follow();
  }

  override componentDidUpdate(): void {
    void this.#follow();
  }

  // The history is fetched when it has a new point, and when the stream shows another state or stop.
  async #follow(): Promise<void> {
    const { fleet, server } = this.props;
    const step = Math.floor(fleet.time / STEP_SECONDS);
    const historyOf = [server.state, server.last_stop?.timestamp_seconds, step].join(' ');
    if (historyOf === this.#historyOf) return;
    this.#historyOf = historyOf;
    const history = await fetchHistory(keyOf(server)).catch(() => undefined);
    if (history === undefined) this.#historyOf = undefined;
    else this.setState({ history });
  }

  override render({ fleet, server }: DetailsProps, { history }: Details['state']): JSX.Element {
    const { complaint } = server;
    const url = fleet.status.panels.find(({ name }) => name === server.panel)?.url;
    return (
      <div class="detail">
        {complaint !== undefined && notice(complaint)}
        {charts({ history, server })}
        <div class="side">
          <div class="who">
            <h3>Server</h3>
            {facts(fleet, server, history)}
            {url !== undefined && (
              <a
                class="panel-link"
                href={`${url}/server/${encodeURIComponent(server.server_id)}`}
                rel="noopener noreferrer"
                target="_blank"
              >
                Open in the panel
              </a>
            )}
          </div>
          <div class="history">
            <h3>State changes</h3>
            {changes(history?.state_changes ?? [], fleet.time)}
          </div>
        </div>
      </div>
    );
  }
}

/** The last minutes of the server with this key; undefined if the exporter is unreachable, which the stream shows. */
async function fetchHistory(key: string): Promise<HistoryView | undefined> {
  const response = await fetch(`api/v1/history?${new URLSearchParams({ server: key }).toString()}`);
  if (!response.ok) return undefined;
  const { servers } = (await response.json()) as { readonly servers: readonly HistoryView[] };
  return servers[0];
}

/** Newest first. */
function changes(states: HistoryView['state_changes'], now: number): JSX.Element {
  if (states.length === 0) return <p class="sub">None yet.</p>;
  const items = states.toReversed().map(({ timestamp_seconds: at, state, reason, exit_code }) => (
    <li key={at}>
      <span class="badge" data-state={isCrash(reason) ? 'down' : state}>
        {stateTitle(state)}
      </span>
      {reason !== undefined && <span class="why">{stopWords({ reason, exit_code })}</span>}
      {time(at, `${timeOfDay(at, now)} · ${ago(at, now)}`)}
    </li>
  ));
  // A scrollable element must be reachable by keyboard.
  return (
    <ol class="changes" tabIndex={0} aria-label="State changes">
      {items}
    </ol>
  );
}

/** What is known about a server: texts, and instants that some depend on; what is unknown is absent. */
function facts({ time: now }: LiveFleet, server: LiveServer, history: HistoryView | undefined): JSX.Element {
  const { expected_running: expected, last_stop: stop } = server;
  const { start_time_seconds: started, starts_total: starts } = server;
  const known: readonly (readonly [term: string, text: string | undefined, at?: number | undefined])[] = [
    ['Panel', server.panel],
    ['ID', server.uuid ?? server.server_id],
    ['Node', server.node],
    ['Egg', server.egg],
    ['Labels', labelWords(server)],
    ['Limits', limitWords(server)],
    ['Expected', expected === undefined ? 'unknown' : expected === 1 ? 'running' : 'any state'],
    ['Condition', conditionTitle(server.condition)],
    ['Last sample', undefined, server.last_sample_timestamp_seconds || undefined],
    ['Uptime', started === undefined ? undefined : span(now - started)],
    ['Players', playerWords(server)],
    ['Last stop', stop && stopWords(stop), stop?.timestamp_seconds],
    ['Starts', starts === 0 ? undefined : starts?.toString()],
    ['Stops', history && stopCounts(history)],
    ['Backups', backupWords(server), server.backup_last_success_timestamp_seconds],
    ['Backup failed', undefined, server.backup_last_failure_timestamp_seconds],
  ];
  const shown = known.filter(([, text = '', at]) => text !== '' || at !== undefined);
  const items = shown.flatMap(([term, text = '', at]) => [
    <dt key={term}>{term}</dt>,
    <dd key={`${term} value`}>
      {text !== '' && <bdi>{text}</bdi>}
      {at !== undefined && time(at, ago(at, now), text === '' ? '' : 'sub')}
    </dd>,
  ]);
  return <dl class="facts">{items}</dl>;
}

function stopCounts({ stops }: HistoryView): string {
  return Object.entries(stops)
    .filter(([, count]) => count > 0)
    .map(([reason, count]) => `${count} ${STOP_TITLES[reason as keyof typeof stops]}`)
    .join(' · ');
}

function limitWords(server: LiveServer): string {
  const words = RESOURCES.map(({ limit, limitWords: wordsOf }) => {
    const most = server[limit];
    return most === undefined ? '' : wordsOf(most);
  });
  return words.filter(Boolean).join(' · ');
}

function backupWords({ backups, backup_last_size_bytes: bytes }: LiveServer): string | undefined {
  if (backups === undefined) return undefined;
  return bytes === undefined ? String(backups) : `${backups}, newest ${size(bytes)}`;
}
