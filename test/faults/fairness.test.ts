// The larger scenarios of the fairness benchmark.
import { expect, it } from 'vitest';
import { missed } from '../../bench/fairness/benchmark.ts';
import { SCENARIOS } from '../../bench/fairness/scenarios.ts';
import { simulate } from '../../bench/fairness/simulation.ts';

/** The largest fleet of the unit tests. Larger scenarios run here. */
const SMALL = 250;

const large = SCENARIOS.filter(({ groups }) => groups.reduce((sum, { count }) => sum + count, 0) > SMALL);

it.each(large.map((scenario) => [scenario.name, scenario] as const))(
  'every limit holds for %s',
  async (_name, scenario) => {
    const outcome = await simulate(scenario);
    const said = JSON.stringify(outcome);
    expect(missed(scenario, outcome), said).toEqual([]);
    expect(outcome.allSampledAfterS, said).toBeLessThan(Number.POSITIVE_INFINITY);
    // Backups are unreadable while the server is rejected or suspended.
    const works = scenario.groups.every(({ trouble }) => trouble === 'none');
    if (works && outcome.backupsKnown !== undefined) expect(outcome.backupsKnown, said).toBe(1);
  },
);
