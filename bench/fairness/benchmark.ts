import type { Benchmark, Target } from '../report/benchmark.ts';
import { formatNumber } from '../report/table.ts';
import { SCENARIOS } from './scenarios.ts';
import { type Outcome, type Scenario, simulate } from './simulation.ts';

const MIN_FRESH = 0.99;
const MAX_WASTED = 0.05;
const MAX_LISTING_INTERVALS = 2;

/** With fewer refreshes per minute, a mean is meaningless. */
const MIN_REFRESHES_PER_MINUTE = 2;

/** The bounds that a scenario's outcome violates; empty if none. */
export function missed(outcome: Outcome): readonly string[] {
  const { fresh, wasted, listingIntervals, overLimit, busiest } = outcome;
  return [
    ...(fresh < MIN_FRESH ? ['fresh'] : []),
    ...(wasted > MAX_WASTED ? ['wasted'] : []),
    ...((listingIntervals ?? 0) > MAX_LISTING_INTERVALS ? ['listing'] : []),
    ...(busiest.most > (refreshBound(outcome) ?? Number.POSITIVE_INFINITY) ? ['refreshes'] : []),
    ...(overLimit > 0 ? ['limit'] : []),
  ];
}

/** The maximum number of refreshes per minute; undefined if servers take turns, or too few stream. */
function refreshBound({ busiest: { mean }, hasTurns }: Outcome): number | undefined {
  if (hasTurns || mean < MIN_REFRESHES_PER_MINUTE) return undefined;
  return Math.max(1.3 * mean, mean + 3);
}

/** The refreshes in the busiest minute, relative to the maximum. */
const refreshesOfBound = (outcome: Outcome): number =>
  outcome.busiest.most / (refreshBound(outcome) ?? Number.POSITIVE_INFINITY);

/** Fair shares of a panel's limit when some servers can't be observed. */
export const fairness: Benchmark = {
  name: 'fairness',
  title: 'healthy servers next to dead, refused or very many servers, in simulated time',
  run: async ({ progress }) => {
    const outcomes: { readonly scenario: Scenario; readonly outcome: Outcome }[] = [];
    for (const scenario of SCENARIOS) {
      progress(scenario.name);
      outcomes.push({ scenario, outcome: await simulate(scenario) });
    }
    const all = outcomes.map(({ outcome }) => outcome);
    return {
      method: `The real fleet, gateway and budget on a virtual clock, with a panel in the same process: tokens that live 600 s, answers in 60 to 400 ms, or after 20 s from dead nodes. Counted after the first pass.
fresh: share of the observable servers with a fresh sample, over all minutes; worst: the same in the worst minute; wasted: share of the budget spent on calls that returned nothing useful, including retries and probes.
busiest: the most token calls in any 60 s, and its bound, max(1.3 × mean, mean + 3); n/a if servers take turns, because turns begin with token calls too, or if fewer than ${MIN_REFRESHES_PER_MINUTE} tokens are refreshed per minute.`,
      tables: [
        {
          header: [
            'scenario',
            'limit',
            'fresh %',
            'worst %',
            'oldest min',
            'wasted %',
            'listing ×',
            'backups ×',
            'tokens/min',
            'busiest',
            'bound',
            'result',
          ],
          rows: outcomes.map(({ scenario, outcome }) => rowOf(scenario, outcome)),
        },
      ],
      targets: [
        target(
          'lowest share of fresh servers',
          'at least',
          MIN_FRESH,
          Math.min(...all.map(({ fresh }) => fresh)),
        ),
        target(
          'highest share of wasted calls',
          'at most',
          MAX_WASTED,
          Math.max(...all.map(({ wasted }) => wasted)),
        ),
        target(
          'oldest listing, in intervals',
          'at most',
          MAX_LISTING_INTERVALS,
          Math.max(...all.map(({ listingIntervals }) => listingIntervals ?? 0)),
        ),
        target(
          'busiest minute of refreshes, relative to its bound',
          'at most',
          1,
          Math.max(...all.map(refreshesOfBound)),
        ),
      ],
    };
  },
};

function rowOf(scenario: Scenario, outcome: Outcome): readonly string[] {
  const { fresh, worstFresh, oldestMinutes, wasted, listingIntervals, backups, busiest } = outcome;
  const misses = missed(outcome);
  const bound = refreshBound(outcome);
  return [
    scenario.name,
    String(scenario.limit),
    formatNumber(fresh * 100, 1),
    formatNumber(worstFresh * 100, 1),
    formatNumber(oldestMinutes, 1),
    formatNumber(wasted * 100, 2),
    formatNumber(listingIntervals ?? Number.NaN, 2),
    formatNumber(backups ?? Number.NaN, 2),
    formatNumber(busiest.mean, 1),
    busiest.most === 0 ? 'n/a' : String(busiest.most),
    formatNumber(bound ?? Number.NaN, 1),
    misses.length === 0 ? 'PASS' : `NO: ${misses.join(', ')}`,
  ];
}

function target(what: string, kind: Target['bound']['kind'], value: number, measured: number): Target {
  return { what, bound: { kind, value }, unit: '', measured };
}
