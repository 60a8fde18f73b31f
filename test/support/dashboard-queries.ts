import { expect } from 'vitest';
import { type Chosen, type DashboardQuery, interpolate, type Timing } from './grafana.ts';

/** One series of an answer. */
export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  /** Of an instant query. */
  readonly value?: readonly [at: number, value: string];
  /** Of a range query. */
  readonly values?: readonly (readonly [at: number, value: string])[];
}

/** What is chosen in each variable of a dashboard. */
export type Choices = Readonly<Record<string, Chosen>>;

/** All of everything, as a dashboard chooses at first. */
export const ALL: Choices = {
  job: { all: '.+' },
  panel: { all: '.+' },
  node: { all: '.*' },
  egg: { all: '.*' },
  server: { all: '.+' },
};

/**
 * A quarter of an hour in steps of some scrapes. Every attempt begins at another second, so that a scrape that a busy machine missed
 * hides no event for good.
 */
export const TIMING: Timing = { range: 900, step: 5, scrapeInterval: 1 };

/** Asks a Prometheus what a dashboard asks, as of an instant in Unix seconds; series come in the order of their labels. */
export async function askFor(
  url: string,
  query: DashboardQuery,
  chosen: Choices,
  at: number,
): Promise<readonly Series[]> {
  const expr = interpolate(query.expr, chosen, TIMING);
  const time = query.instant
    ? { time: `${at}` }
    : { start: `${at - TIMING.range}`, end: `${at}`, step: `${TIMING.step}` };
  const path = query.instant ? 'query' : 'query_range';
  const { result } = await answer<{ result: readonly Series[] }>(url, path, { query: expr, ...time });
  return result.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

/** The values that a label has in some series. */
export function labelValuesOf(url: string, label: string, series: string): Promise<readonly string[]> {
  return answer(url, `label/${label}/values`, { 'match[]': series }, 'GET');
}

/** An instant, in Unix seconds, for which Prometheus has all samples, and will have no others later. */
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
