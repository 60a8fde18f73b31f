// An open row: the problem, charts, facts and recent state changes of one server.
import { Component, type JSX, type TargetedPointerEvent } from 'preact';
import { type ChartSeries, POINTS, STEP_SECONDS } from '../../domain/recent-history.ts';
import { isCrash } from '../../domain/stops.ts';
import { MIB } from '../../domain/units.ts';
import { DASH, rate, size, span } from '../data/amounts.ts';
import type { HistoryView } from '../data/history.ts';
import type { LiveServer } from '../data/live-fields.ts';
import { conditionTitle, STOP_TITLES, stateTitle, stopTitle } from '../data/titles.ts';
import { advice } from './banner.tsx';
import { labelText } from './label-text.ts';
import type { LiveFleet } from './live-fleet.ts';
import { playerText } from './players.ts';
import { RESOURCES } from './resources.tsx';
import { chooseTicks, curvePath, type Division } from './scale.ts';
import { serverKey } from './server-key.ts';
import { ago, time, timeOfDay } from './times.tsx';

interface DetailsProps {
  readonly fleet: LiveFleet;
  readonly server: LiveServer;
}

/** The content of an open row. The row above it has the problem's title. */
export class Details extends Component<DetailsProps, { readonly history?: HistoryView }> {
  /** The state, stop and step for which the history was fetched. */
  #historyKey: string | undefined;

  override componentDidMount(): void {
    void this.#follow();
  }

  override componentDidUpdate(): void {
    void this.#follow();
  }

  // The history is fetched when it has a new point, and when the stream contains another state or
  // stop.
  async #follow(): Promise<void> {
    const { fleet, server } = this.props;
    if (fleet.isLost) return;
    const step = Math.floor(fleet.time / STEP_SECONDS);
    const historyKey = [server.state, server.last_stop?.timestamp_seconds, step].join(' ');
    if (historyKey === this.#historyKey) return;
    this.#historyKey = historyKey;
    const history = await fetchHistory(serverKey(server)).catch(() => undefined);
    if (history === undefined) this.#historyKey = undefined;
    else this.setState({ history });
  }

  override render({ fleet, server }: DetailsProps, { history }: Details['state']): JSX.Element {
    const url = fleet.status.panels.find(({ name }) => name === server.panel)?.url;
    return (
      <div class="detail">
        {server.complaint !== undefined && advice(server.complaint)}
        <div class="charts">
          {CHARTS.map((spec) => (
            <Chart key={spec.title} {...{ spec, history, server }} />
          ))}
        </div>
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

/**
 * The last minutes of the server with this key; undefined if the exporter is unreachable, which the
 * connection's state shows.
 */
async function fetchHistory(key: string): Promise<HistoryView | undefined> {
  const response = await fetch(`api/v1/history?${new URLSearchParams({ server: key }).toString()}`);
  if (!response.ok) return undefined;
  const { servers } = (await response.json()) as { readonly servers: readonly HistoryView[] };
  return servers[0];
}

/** Newest first. */
function changes(states: HistoryView['state_changes'], now: number): JSX.Element {
  if (states.length === 0) return <p class="sub">None yet.</p>;
  const items = states.toReversed().map(({ timestamp_seconds: at, state, reason, ...stop }) => (
    <li key={at}>
      <span class="badge" data-state={isCrash(reason) ? 'down' : state}>
        {stateTitle(state)}
      </span>
      {reason !== undefined && <span class="why">{stopTitle({ reason, ...stop })}</span>}
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

/** The known facts about a server as texts, some with an instant. */
function facts({ time: now }: LiveFleet, server: LiveServer, history: HistoryView | undefined): JSX.Element {
  const { expected_running: expected, last_stop: stop } = server;
  const { start_time_seconds: started, starts_total: starts } = server;
  const known: readonly (readonly [term: string, text: string | undefined, at?: number | undefined])[] = [
    ['Panel', server.panel],
    ['ID', server.uuid ?? server.server_id],
    ['Node', server.node],
    ['Egg', server.egg],
    ['Address', history?.address],
    ['Labels', labelText(server)],
    ['Limits', limitText(server)],
    ['Expected', expected === undefined ? 'unknown' : expected === 1 ? 'running' : 'any state'],
    ['Monitoring', conditionTitle(server.condition)],
    ['Last sample', undefined, server.last_sample_timestamp_seconds || undefined],
    ['Uptime', started === undefined ? undefined : span(now - started)],
    ['Players', playerText(server)],
    ['Last stop', stop && stopTitle(stop), stop?.timestamp_seconds],
    ['Starts', starts === 0 ? undefined : starts?.toString()],
    ['Stops', history && stopCounts(history)],
    ['Backups', backupText(server), server.backup_last_success_timestamp_seconds],
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

function limitText(server: LiveServer): string {
  const texts = RESOURCES.map(({ limit, limitText: textOf }) => {
    const most = server[limit];
    return most === undefined ? '' : textOf(most);
  });
  return texts.filter(Boolean).join(' · ');
}

function backupText({ backups, backup_last_size_bytes: bytes }: LiveServer): string | undefined {
  if (backups === undefined) return undefined;
  return bytes === undefined ? String(backups) : `${backups}, newest ${size(bytes)}`;
}

/** One chart: its lines, and the format of its numbers. */
interface ChartSpec {
  readonly title: string;
  readonly lines: readonly { readonly label: string; readonly color: string; readonly series: ChartSeries }[];
  /** The limit of the first line, which is shown dashed. */
  readonly limit?: 'cpu_limit_cores' | 'memory_limit_bytes';
  readonly format: (value: number) => string;
  readonly division: Division;
  /** Whether the chart is left out if there is no data. */
  readonly isOptional?: true;
}

const CHARTS: readonly ChartSpec[] = [
  {
    title: 'CPU, cores',
    lines: [{ label: 'used', color: '--series-1', series: 'cpu_usage_cores' }],
    limit: 'cpu_limit_cores',
    format: (value) => value.toFixed(value < 10 ? 2 : 1),
    division: { base: 10, least: 0.01 },
  },
  {
    title: 'Memory',
    lines: [{ label: 'used', color: '--series-2', series: 'memory_usage_bytes' }],
    limit: 'memory_limit_bytes',
    format: size,
    division: { base: 2, least: MIB },
  },
  {
    title: 'Network',
    lines: [
      { label: 'received', color: '--series-3', series: 'network_receive_bytes_per_second' },
      { label: 'sent', color: '--series-1', series: 'network_transmit_bytes_per_second' },
    ],
    format: rate,
    division: { base: 2, least: 1 },
  },
  {
    title: 'Players',
    lines: [{ label: 'online', color: '--series-2', series: 'players' }],
    format: (value) => String(Math.round(value)),
    division: { base: 10, least: 1 },
    isOptional: true,
  },
];

/** A limit this many times above the usage is left out, because it would flatten the line. */
const FAR_ABOVE = 5;

interface ChartProps {
  readonly spec: ChartSpec;
  readonly history: HistoryView | undefined;
  readonly server: LiveServer;
}

interface Curve {
  readonly label: string;
  readonly color: string;
  /** Oldest first; null if unknown. */
  readonly values: readonly (number | null)[];
}

function curves(spec: ChartSpec, history: HistoryView | undefined, server: LiveServer): readonly Curve[] {
  const lines = spec.lines.map(({ label, color, series }): Curve => {
    const values = history?.series[series] ?? [];
    return { label, color, values: Array.from({ length: POINTS }, (_, at) => values[at] ?? null) };
  });
  if (spec.limit === undefined) return lines;
  const limit = server[spec.limit] ?? 0;
  const isShown = limit > 0 && limit <= highestValue(lines) * FAR_ABOVE;
  const values = Array.from({ length: POINTS }, () => (isShown ? limit : null));
  return [...lines, { label: 'limit', color: '--limit', values }];
}

function highestValue(lines: readonly Curve[]): number {
  return Math.max(0, ...lines.flatMap(({ values }) => values.map((value) => value ?? 0)));
}

/** A chart of the last minutes. The legend shows the newest values, or those at the pointer. */
class Chart extends Component<ChartProps, { readonly pointed?: number }> {
  override render({ spec, history, server }: ChartProps, { pointed }: Chart['state']): JSX.Element | null {
    const { format } = spec;
    const lines = curves(spec, history, server);
    const isEmpty = lines.every(({ values }) => values.every((value) => value === null));
    if (isEmpty && spec.isOptional === true) return null;
    const ticks = chooseTicks(highestValue(lines), spec.division);
    const top = ticks.at(-1) ?? 1;
    const { end_timestamp_seconds: end = 0, step_seconds: step = 0 } = history ?? {};
    const timeAt = (at: number) => (end === 0 ? '' : timeOfDay(end - (POINTS - 1 - at) * step, end));
    const last = POINTS - 1;
    return (
      <div class="chart">
        <h3>{spec.title}</h3>
        <div class="scale">
          {ticks.toReversed().map((tick) => (
            <span key={tick}>{format(tick)}</span>
          ))}
        </div>
        <svg
          viewBox={`0 0 ${last} 1`}
          preserveAspectRatio="none"
          role="img"
          aria-label={spec.title}
          onPointerMove={this.#onMove}
          onPointerLeave={() => this.setState({ pointed: undefined })}
        >
          {ticks.map((tick) => (
            <path key={tick} class="grid-line" d={`M0 ${1 - tick / top}h${last}`} />
          ))}
          {pointed !== undefined && <path class="grid-line" d={`M${pointed} 0v1`} />}
          {lines.map(({ label, color, values }) => (
            <path key={label} class={label} style={{ stroke: `var(${color})` }} d={curvePath(values, top)} />
          ))}
        </svg>
        <div class="times">
          <span>{timeAt(0)}</span>
          <b>{pointed === undefined ? '' : timeAt(pointed)}</b>
          <span>{timeAt(last)}</span>
        </div>
        <div class="legend">
          {lines.map(({ label, color, values }) => {
            const value = values[pointed ?? last] ?? undefined;
            return (
              <span key={label} style={{ borderColor: `var(${color})` }}>
                {label} <b>{value === undefined ? DASH : format(value)}</b>
              </span>
            );
          })}
        </div>
      </div>
    );
  }

  readonly #onMove = ({ currentTarget, clientX }: TargetedPointerEvent<SVGSVGElement>): void => {
    const { left, width } = currentTarget.getBoundingClientRect();
    const at = Math.round(((clientX - left) / width) * (POINTS - 1));
    this.setState({ pointed: Math.min(Math.max(0, at), POINTS - 1) });
  };
}
