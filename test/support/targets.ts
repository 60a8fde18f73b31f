// Configured servers for tests.
import type { ServerTarget } from '../../src/domain/server.ts';

/** A server as the configuration describes it. */
export function target(overrides: Partial<ServerTarget> = {}): ServerTarget {
  return {
    panel: 'main',
    id: '1a7ce997',
    name: 'survival',
    labels: {},
    expect: 'running',
    mode: 'auto',
    limits: {},
    ...overrides,
  };
}
