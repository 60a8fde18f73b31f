import { Component, type JSX } from 'preact';
import { type ChartSeries, POINTS } from '../../domain/reading.ts';
import { MIB } from '../../domain/server.ts';
import type { HistoryView } from '../data/history-view.ts';
import type { LiveServer } from '../data/live-server.ts';
import { NOTHING, rate, size } from '../data/words.ts';
import { clockTime } from './parts.tsx';
import { type Division, pathOf, ticksOf } from './scale.ts';

/** One chart: its lines, and how to format its numbers. */
interface ChartSpec {
  readonly title: string;
  readonly lines: readonly { readonly label: string; readonly color: string; readonly series: ChartSeries }[];
  /** The limit of the first line, shown as a dashed one. */
  readonly limit?: 'cpu_limit_cores' | 'memory_limit_bytes';
  readonly format: (value: number) => string;
  readonly division: Division;
  /** Omits the chart if there is no data. */
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

/** A limit this many times above the usage is omitted, because it would flatten the line. */
const FAR_ABOVE = 5;

interface ChartProps {
  readonly history: HistoryView | undefined;
  readonly server: LiveServer;
}

/** The large charts of a server. */
export function charts(props: ChartProps): JSX.Element {
  const shown = CHARTS.filter(({ isOptional, lines }) => {
    const isKnown = lines.some(({ series }) =>
      props.history?.series[series]?.some((value) => value !== null),
    );
    return isKnown || isOptional !== true;
  });
  return (
    <div class="charts">
      {shown.map((spec) => (
        <Chart key={spec.title} spec={spec} {...props} />
      ))}
    </div>
  );
}

interface Line {
  readonly label: string;
  readonly color: string;
  /** Oldest first; null if unknown. */
  readonly values: readonly (number | null)[];
}

function linesOf(spec: ChartSpec, history: HistoryView | undefined, server: LiveServer): readonly Line[] {
  const lines = spec.lines.map(({ label, color, series }): Line => {
    const values = history?.series[series] ?? [];
    return { label, color, values: Array.from({ length: POINTS }, (_, at) => values[at] ?? null) };
  });
  if (spec.limit === undefined) return lines;
  const limit = server[spec.limit] ?? 0;
  const isShown = limit > 0 && limit <= highestOf(lines) * FAR_ABOVE;
  const values = Array.from({ length: POINTS }, () => (isShown ? limit : null));
  return [...lines, { label: 'limit', color: '--limit', values }];
}

function highestOf(lines: readonly Line[]): number {
  return Math.max(0, ...lines.flatMap(({ values }) => values.map((value) => value ?? 0)));
}

/** Lines over the last minutes. The legend shows the newest values, or those at the pointer. */
class Chart extends Component<ChartProps & { readonly spec: ChartSpec }, { readonly pointed?: number }> {
  override render({ spec, history, server }: Chart['props'], { pointed }: Chart['state']): JSX.Element {
    const { format } = spec;
    const lines = linesOf(spec, history, server);
    const ticks = ticksOf(highestOf(lines), spec.division);
    const top = ticks.at(-1) ?? 1;
    const { end_timestamp_seconds: end = 0, step_seconds: step = 0 } = history ?? {};
    const timeAt = (at: number) => (end === 0 ? '' : clockTime(end - (POINTS - 1 - at) * step));
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
            <path key={label} class={label} style={{ stroke: `var(${color})` }} d={pathOf(values, top)} />
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
                {label} <b>{value === undefined ? NOTHING : format(value)}</b>
              </span>
            );
          })}
        </div>
      </div>
    );
  }

  readonly #onMove = ({ currentTarget, clientX }: PointerEvent): void => {
    if (!(currentTarget instanceof Element)) return;
    const { left, width } = currentTarget.getBoundingClientRect();
    const at = Math.round(((clientX - left) / width) * (POINTS - 1));
    this.setState({ pointed: Math.min(Math.max(0, at), POINTS - 1) });
  };
}
