import { describe, expect, it } from 'vitest';
import { missed } from '../../../bench/fairness/benchmark.ts';
import type { ServerGroup, Trouble } from '../../../bench/fairness/scripted-panel.ts';
import { type Scenario, simulate } from '../../../bench/fairness/simulation.ts';

const group = (count: number, mode: ServerGroup['mode'], trouble: Trouble = 'none'): ServerGroup => ({
  count,
  mode,
  trouble,
  node: `node-${trouble}`,
});

/** Shorter and smaller versions of the benchmark's scenarios. */
const SCENARIOS: readonly Scenario[] = [
  {
    name: 'dead nodes beside polled servers',
    limit: 400,
    groups: [group(40, 'auto', 'dead'), group(20, 'poll', 'dead'), group(20, 'poll')],
    settleMinutes: 10,
    minutes: 20,
    listingMinutes: 1,
  },
  {
    name: 'a fleet whose consoles are all refused',
    limit: 120,
    groups: [group(100, 'auto', 'origin')],
    settleMinutes: 10,
    minutes: 20,
    listingMinutes: 5,
  },
  {
    name: 'turns of which a fifth is refused',
    limit: 30,
    groups: [group(160, 'auto'), group(40, 'auto', 'permission')],
    settleMinutes: 40,
    minutes: 20,
    listingMinutes: 5,
  },
  {
    name: 'streaming servers with backups',
    limit: 60,
    groups: [group(60, 'auto')],
    settleMinutes: 15,
    minutes: 20,
    listingMinutes: 5,
    backupMinutes: 20,
  },
];

describe('a fleet within its budget', () => {
  it.each(SCENARIOS)('meets every limit: $name', async (scenario) => {
    const outcome = await simulate(scenario);
    expect(missed(outcome), JSON.stringify(outcome)).toEqual([]);
    if (outcome.backups !== undefined) expect(outcome.backups).toBeGreaterThan(0.85);
  });
});
