import { rangeUtil, type TimeRange } from '@grafana/data';
import type { Panel, View } from './dashboard.ts';

/** The value of each of the dashboard's variables. */
export function valuesOf({ dashboard, server }: View): Readonly<Record<string, string>> {
  return Object.fromEntries(
    dashboard.templating.list.map(({ name, allValue }) => [name, allValue ?? server]),
  );
}

/** Grafana's own variables for a panel. */
export function timingOf(
  { maxDataPoints }: Panel,
  range: TimeRange,
  width: number,
  scrapeInterval: number,
): { readonly step: number; readonly values: Readonly<Record<string, string>> } {
  const points = maxDataPoints ?? Math.max(1, Math.floor(width));
  const step = rangeUtil.calculateInterval(range, points, `${scrapeInterval}s`).intervalMs / 1_000;
  const seconds = (range.to.valueOf() - range.from.valueOf()) / 1_000;
  const values = {
    __range: `${seconds}s`,
    __interval: `${step}s`,
    __rate_interval: `${Math.max(step + scrapeInterval, 4 * scrapeInterval)}s`,
  };
  return { step, values };
}

/** The text with its variables replaced; throws if one is unknown. */
export function interpolated(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$([a-z_]\w*)|\$\{(\w+)\}/g, (variable, plain: string, braced: string) => {
    const value = values[plain ?? braced];
    if (value === undefined) throw new Error(`expected a variable of the dashboard, got "${variable}"`);
    return value;
  });
}
