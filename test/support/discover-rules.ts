// The `discover` rules of a panel for tests.
import type { DiscoverRules } from '../../src/domain/listing-settings.ts';

/** Rules that select every server, with changes. */
export function discoverRules(changes: Partial<DiscoverRules> = {}): DiscoverRules {
  return {
    include: {},
    exclude: {},
    expect: [],
    labels: [],
    mode: 'auto',
    maxServers: 100,
    ...changes,
  };
}
