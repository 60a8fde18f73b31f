import { createDataFrame, type DataFrame, FieldType, type TimeRange } from '@grafana/data';
import type { Panel, Target, View } from './dashboard.ts';
import { interpolated, timingOf, valuesOf } from './variables.ts';

interface Series {
  readonly metric: Readonly<Record<string, string>>;
  /** For an instant query. */
  readonly value?: readonly [at: number, value: string];
  /** For a range query. */
  readonly values?: readonly (readonly [at: number, value: string])[];
}

/** The frames that Grafana's Prometheus data source returns for a panel's queries. */
export async function framesOf(
  panel: Panel,
  range: TimeRange,
  width: number,
  view: View,
): Promise<DataFrame[]> {
  const { targets = [] } = panel;
  const { step, values } = timingOf(panel, range, width, view.scrapeInterval);
  const frames = targets.map(async (target) => {
    const query = interpolated(target.expr, { ...valuesOf(view), ...values });
    if (target.instant !== true) {
      const [start, end] = [view.from, view.to].map((at) => `${Math.floor(at / step) * step}`);
      const result = await ask('query_range', { query, start: start ?? '', end: end ?? '', step: `${step}` });
      return result.map((series) => seriesFrame(series, target, step * 1_000));
    }
    const result = await ask('query', { query, time: `${view.to}` });
    return target.format === 'table'
      ? [tableFrame(result, target, targets.length === 1)]
      : result.map((series) => seriesFrame(series, target));
  });
  return (await Promise.all(frames)).flat();
}

async function ask(path: string, parameters: Record<string, string>): Promise<readonly Series[]> {
  const response = await fetch(`/api/v1/${path}`, { method: 'POST', body: new URLSearchParams(parameters) });
  const { error, data } = (await response.json()) as { error?: string; data?: { result: Series[] } };
  if (data === undefined) throw new Error(`${error} in ${parameters['query']}`);
  return data.result;
}

function seriesFrame({ metric, value, values }: Series, target: Target, interval?: number): DataFrame {
  const points = values ?? (value === undefined ? [] : [value]);
  const name = (target.legendFormat ?? '').replaceAll(
    /\{\{(\w+)\}\}/g,
    (_all, label: string) => metric[label] ?? '',
  );
  return createDataFrame({
    refId: target.refId,
    name,
    fields: [
      {
        name: 'Time',
        type: FieldType.time,
        config: interval === undefined ? {} : { interval },
        values: points.map(([at]) => at * 1_000),
      },
      {
        name: 'Value',
        type: FieldType.number,
        labels: { ...metric },
        config: { displayNameFromDS: name },
        values: points.map(([, text]) => numberIn(text)),
      },
    ],
  });
}

function tableFrame(result: readonly Series[], { refId }: Target, isOnly: boolean): DataFrame {
  if (result.length === 0) return createDataFrame({ refId, fields: [] });
  const labels = [...new Set(result.flatMap(({ metric }) => Object.keys(metric)))].toSorted();
  return createDataFrame({
    refId,
    fields: [
      { name: 'Time', type: FieldType.time, values: result.map(({ value }) => (value?.[0] ?? 0) * 1_000) },
      ...labels.map((label) => ({
        name: label,
        type: FieldType.string,
        values: result.map(({ metric }) => metric[label] ?? ''),
      })),
      {
        name: isOnly ? 'Value' : `Value #${refId}`,
        type: FieldType.number,
        values: result.map(({ value }) => numberIn(value?.[1] ?? 'NaN')),
      },
    ],
  });
}

function numberIn(text: string): number {
  return Number(text.replace(/Inf$/, 'Infinity'));
}
