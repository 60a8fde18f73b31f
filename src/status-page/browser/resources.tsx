// A server's usage of limited resources: CPU, memory, disk.
import type { JSX } from 'preact';
import { isOff } from '../../domain/power-states.ts';
import { SATURATED_FROM } from '../../domain/thresholds.ts';
import { coreLimitText, cores, DASH, size, sizeLimitText } from '../data/amounts.ts';
import type { LiveServer } from '../data/live-fields.ts';
import { bar } from './bar.tsx';
import { SORTS } from './sorting.ts';
import { alarmLevel } from './traits.ts';

/** A resource that may have a limit. */
interface Resource {
  readonly name: 'cpu' | 'memory' | 'disk';
  readonly used: 'cpu_usage_cores' | 'memory_usage_bytes' | 'disk_usage_bytes';
  readonly limit: 'cpu_limit_cores' | 'memory_limit_bytes' | 'disk_limit_bytes';
  readonly amount: (value: number) => string;
  readonly limitText: (limit: number) => string;
  /** Whether the server's problem is about it. */
  readonly isShort?: (server: LiveServer) => boolean;
}

export const RESOURCES: readonly Resource[] = [
  {
    name: 'cpu',
    used: 'cpu_usage_cores',
    limit: 'cpu_limit_cores',
    amount: cores,
    limitText: coreLimitText,
    isShort: ({ attention }) => attention === 'cpu_saturated',
  },
  {
    name: 'memory',
    used: 'memory_usage_bytes',
    limit: 'memory_limit_bytes',
    amount: size,
    limitText: (limit) => `${sizeLimitText(limit)} memory`,
  },
  {
    name: 'disk',
    used: 'disk_usage_bytes',
    limit: 'disk_limit_bytes',
    amount: size,
    limitText: (limit) => `${sizeLimitText(limit)} disk`,
    isShort: ({ disk_usage_bytes: used = 0, disk_limit_bytes: limit = Infinity }) =>
      used >= SATURATED_FROM * limit,
  },
];

/** A server's usage of a resource. A server that is off uses only its disk. */
function amountInUse({ name, used }: Resource, server: LiveServer): number | undefined {
  return isOff(server.state) && name !== 'disk' ? undefined : server[used];
}

/** Whether any usage of a server is known. */
export function hasUsage(server: LiveServer): boolean {
  return RESOURCES.some((resource) => amountInUse(resource, server) !== undefined);
}

/**
 * The amount that a server uses, its percentage of the limit, and a bar. The tooltip contains the
 * limit.
 */
export function meter(resource: Resource, server: LiveServer): JSX.Element {
  const used = amountInUse(resource, server);
  const limit = server[resource.limit];
  const percent = used !== undefined && limit !== undefined ? Math.round((used / limit) * 100) : undefined;
  const level = resource.isShort?.(server) === true ? alarmLevel(server) : undefined;
  const title = percent === undefined ? undefined : `${percent} % of ${resource.limitText(limit ?? 0)}`;
  return (
    <div class="usage" title={title} data-level={level}>
      <span class="main" data-label={SORTS[resource.name].title}>
        {used === undefined ? DASH : resource.amount(used)}
      </span>
      {percent !== undefined && <span class="sub">{percent} %</span>}
      {percent !== undefined && bar(percent, level)}
    </div>
  );
}
