import { expect } from 'vitest';
import { type Chosen, type DashboardQuery, interpolate, type Timing } from './grafana.ts';

/** One series of a response. */
export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  /** For an instant query. */
  readonly value?: readonly [at: number, value: string];
  /** For a range query. */
  readonly values?: readonly (readonly [at: number, value: string])[];
}

/** The selection in each variable of a dashboard. */
export type Choices = Readonly<Record<string, Chosen>>;

/** All of everything, a dashboard's initial selection. */
export const ALL: Choices = {
  job: { all: '.+' },
  panel: { all: '.+' },
  node: { all: '.*' },
  egg: { all: '.*' },
  server: { all: '.+' },
};

/**
 * 15 minutes in steps of several scrapes. Every attempt begins at another second, so that a scrape missed by a busy machine
 * doesn't hide an event permanently.
 */
export const TIMING: Timing = { range: 900, step: 5, scrapeInterval: 1 };

/** Runs a dashboard's query against a Prometheus, as of an instant in Unix seconds; series are sorted by their labels. */
export async function askFor(
  url: string,
  query: DashboardQuery,
  chosen: Choices,
  at: number,
): Promise<readonly Series[]> {
  const expr = interpolate(query.expr, chosen, TIMING);
  const time: Record<string, string> = query.instant
    ? { time: `${at}` }
    : { start: `${at - TIMING.range}`, end: `${at}`, step: `${TIMING.step}` };
  const path = query.instant ? 'query' : 'query_range';
  const { result } = await answer<{ result: readonly Series[] }>(url, path, { query: expr, ...time });
  return result.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

/** The values of a label in some series. */
export function labelValuesOf(url: string, label: string, series: string): Promise<readonly string[]> {
  return answer(url, `label/${label}/values`, { 'match[]': series }, 'GET');
}

/** An instant, in Unix seconds, for which Prometheus has all samples and won't receive more. */
export function settled(): number {
  return Math.floor(Date.now() / 1_000) - 3;
}

async function answer<Data>(
  url: string,
  path: string,
  parameters: Record<string, string>,
  method = 'POST',
): Promise<Data> {
  const form = new URLSearchParams(parameters);
  const address = `${url}/api/v1/${path}`;
  const response =
    method === 'POST'
      ? await fetch(address, { method: 'POST', body: form })
      : await fetch(`${address}?${form.toString()}`);
  const body = (await response.json()) as { status: string; error?: string; data: Data };
  expect(body, parameters['query']).toMatchObject({ status: 'success' });
  return body.data;
}

function keyOf({ metric }: Series): string {
  return JSON.stringify(Object.entries(metric).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
