// Descriptions of the `discover` rules for a person.

import type { ServerGlobs } from '../domain/listing-settings.ts';
import type { QuerySettings } from '../domain/server.ts';
import { formatDuration } from '../text/duration.ts';

/** Whether the rule matches every listed server, so that later rules have no effect. */
export function matchesEveryServer({ match }: { readonly match: ServerGlobs }): boolean {
  return Object.keys(match).length === 0;
}

/** A rule and its servers. `index` is its position, because earlier rules take precedence. */
export function describeRule(effect: string, match: ServerGlobs, index: number): string {
  const parts = Object.entries(match).map(([key, globs]) => `${key} ${globs.join(' or ')}`);
  if (parts.length > 0) return `${effect} where ${parts.join(' and ')}`;
  return `${effect} for all ${index === 0 ? 'servers' : 'other servers'}`;
}

export function describeQuery({ type, address, intervalMs }: QuerySettings): string {
  const at = address === undefined ? '' : ` at ${address}`;
  return `${type}${at} every ${formatDuration(intervalMs)}`;
}
