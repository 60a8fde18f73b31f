// Runs dashboards' queries against a real Prometheus.
import { expect } from 'vitest';
import { eventually } from './eventually.ts';
import { type Chosen, type DashboardQuery, interpolate, type Timing } from './grafana.ts';

/** A series of a response. */
export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  /** Only in responses to instant queries. */
  readonly value?: readonly [at: number, value: string];
  /** Only in responses to range queries. */
  readonly values?: readonly (readonly [at: number, value: string])[];
}

/** The selected values of each variable of a dashboard. */
export type Choices = Readonly<Record<string, Chosen>>;

/** A dashboard's initial selection: all values of every variable. */
export const ALL: Choices = {
  job: { all: '.+' },
  panel: { all: '.+' },
  node: { all: '.*' },
  egg: { all: '.*' },
  server: { all: '.+' },
};

/**
 * 15 minutes in steps of several scrapes. Each attempt starts at another second, so that a scrape
 * missed by a busy machine doesn't hide the same event every time.
 */
export const TIMING: Timing = { range: 900, step: 5, scrapeInterval: 1 };

/**
 * Runs a dashboard's query at this time, in Unix seconds. The series are sorted by their labels.
 */
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

/** The values of a label in these series. */
export function labelValuesOf(url: string, label: string, series: string): Promise<readonly string[]> {
  return answer(url, `label/${label}/values`, { 'match[]': series }, 'GET');
}

/** Checks each item. The result has a line for each failure, which starts with the item's name. */
export async function failuresOf<Item>(
  items: readonly (readonly [name: string, item: Item])[],
  check: (item: Item) => unknown,
): Promise<readonly string[]> {
  const outcomes = items.map(async ([name, item]) => {
    try {
      await check(item);
      return [];
    } catch (error) {
      return [`${name}: ${error instanceof Error ? error.message : String(error)}`];
    }
  });
  return (await Promise.all(outcomes)).flat();
}

/**
 * Waits until the check has passed for each item. The error has a line for each item that never
 * passed.
 */
export async function eventuallyEach<Item>(
  items: readonly (readonly [name: string, item: Item])[],
  check: (item: Item) => unknown,
): Promise<void> {
  expect(items).not.toEqual([]);
  const left = new Set(items);
  await eventually(async () => {
    const failures = await failuresOf(
      [...left].map((entry) => [entry[0], entry] as const),
      async (entry) => {
        await check(entry[1]);
        left.delete(entry);
      },
    );
    expect(failures).toEqual([]);
  });
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
