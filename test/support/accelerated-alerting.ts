// Rules and Alertmanager configurations with shorter durations, so that alerts fire within a test.
import { parse, stringify } from 'yaml';

/** The acceleration of alert evaluation and notification, and the minimum wait. */
export interface Acceleration {
  readonly factor: number;
  /** The shortest duration, in real milliseconds. */
  readonly leastMs?: number;
}

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** A duration in Prometheus' syntax, such as `15s` or `1d`, divided by the factor. */
export function acceleratedDuration(duration: string, { factor, leastMs = 1 }: Acceleration): string {
  const [, amount = '', unit = ''] = /^(\d+)([smhd])$/.exec(duration) ?? [];
  const unitMs = UNIT_MS[unit];
  if (unitMs === undefined) throw new Error(`expected a duration such as 15s, got "${duration}"`);
  return `${Math.max(leastMs, Math.round((Number(amount) * unitMs) / factor))}ms`;
}

/** A rules file with shorter intervals, waits, ranges and ages. */
export function acceleratedRules(rules: string, acceleration: Acceleration): string {
  const duration = (_all: string, before: string, text: string) =>
    `${before}${acceleratedDuration(text, acceleration)}`;
  const seconds = (_all: string, before: string, text: string) =>
    `${before}${Number(text) / acceleration.factor}`;
  return rules
    .replaceAll(/(\[|\[\w+:|offset |(?:for|keep_firing_for|interval): )(\d+[smhd])/g, duration)
    .replaceAll(/(time\(\) - |_since:timestamp_seconds >= )(\d+)/g, seconds);
}

interface Route {
  readonly routes?: readonly Route[];
  readonly [key: string]: unknown;
}

const WAITS = new Set(['group_wait', 'group_interval', 'repeat_interval']);

/** A route of Alertmanager and its subroutes, with shorter waits. */
export function acceleratedRoute<Shipped extends Route>(route: Shipped, acceleration: Acceleration): Shipped {
  const entries = Object.entries(route).map(([key, value]) => {
    if (key === 'routes')
      return [key, (value as readonly Route[]).map((inner) => acceleratedRoute(inner, acceleration))];
    return [key, WAITS.has(key) ? acceleratedDuration(value as string, acceleration) : value];
  });
  return Object.fromEntries(entries) as Shipped;
}

interface Routing {
  readonly route: Route;
  readonly receivers: readonly {
    readonly name: string;
    readonly webhook_configs: readonly { readonly send_resolved: boolean }[];
  }[];
}

/** An Alertmanager configuration with shorter waits, whose webhooks all have this address. */
export function acceleratedRouting(shipped: string, url: string, acceleration: Acceleration): string {
  const config = parse(shipped) as Routing;
  return stringify({
    ...config,
    route: acceleratedRoute(config.route, acceleration),
    receivers: config.receivers.map(({ name, webhook_configs: webhooks }) => ({
      name,
      webhook_configs: webhooks.map(({ send_resolved }) => ({ url, send_resolved })),
    })),
  });
}
