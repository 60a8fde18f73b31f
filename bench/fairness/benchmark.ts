// The benchmark `fairness`: healthy servers beside failing ones, in simulated time.

import type { Benchmark, Target } from '../report/benchmark.ts';
import { formatNumber } from '../report/table.ts';
import { SCENARIOS } from './scenarios.ts';
import { type Outcome, type Scenario, simulate } from './simulation.ts';

const MIN_FRESH = 0.99;
const MAX_WASTED = 0.15;

/**
 * In an overloaded fleet, the maximum distance of any server's share of fresh time from the mean.
 */
const MAX_DISTANCE = 0.1;

/** The bounds that the outcome of a scenario exceeds; empty if none. */
export function missed({ isOverloaded = false }: Scenario, outcome: Outcome): readonly string[] {
  const { fresh, wasted, busiestMinute, allowed, throttled } = outcome;
  return [
    ...(!isOverloaded && fresh < MIN_FRESH ? ['fresh'] : []),
    ...(isOverloaded && distance(outcome) > MAX_DISTANCE ? ['fair'] : []),
    ...(wasted > MAX_WASTED ? ['wasted'] : []),
    ...(busiestMinute > allowed ? ['window'] : []),
    ...(throttled > 0 ? ['throttled'] : []),
  ];
}

/** The distance from the mean to the best or the worst server, whichever is greater. */
function distance({ fresh, worst, best }: Outcome): number {
  return Math.max(fresh - worst, best - fresh);
}

/**
 * Measures whether healthy servers stay fresh beside servers that are dead, refused or too many.
 */
export const fairness: Benchmark = {
  name: 'fairness',
  title: 'healthy servers next to dead, refused or very many servers, in simulated time',
  run: async ({ progress }) => {
    const outcomes: { readonly scenario: Scenario; readonly outcome: Outcome }[] = [];
    for (const scenario of SCENARIOS) {
      progress(scenario.name);
      outcomes.push({ scenario, outcome: await simulate(scenario) });
    }
    const enough = outcomes.filter(({ scenario }) => scenario.isOverloaded !== true);
    const overloaded = outcomes.filter(({ scenario }) => scenario.isOverloaded === true);
    const all = outcomes.map(({ outcome }) => outcome);
    return {
      method: `The real fleet and gateway on a virtual clock, with a panel in the same process: tokens that live 600 s, responses in 60 to 400 ms, or after 20 s from dead nodes; stats only on request.
Freshness is measured after the first pass, every five seconds; oldest: the greatest age of a server's newest sample. wasted: share of the allowed calls that returned nothing useful, including trials and canaries.`,
      tables: [
        {
          header: [
            'scenario',
            'limit',
            'all have data s',
            'fresh %',
            'worst %',
            'oldest min',
            'wasted %',
            'listing ×',
            'busiest',
            'allowed',
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
          Math.min(...enough.map(({ outcome }) => outcome.fresh)),
        ),
        target(
          'overload: greatest distance of a server from the mean share',
          'at most',
          MAX_DISTANCE,
          Math.max(...overloaded.map(({ outcome }) => distance(outcome))),
        ),
        target(
          'highest share of wasted calls',
          'at most',
          MAX_WASTED,
          Math.max(...all.map(({ wasted }) => wasted)),
        ),
        target(
          'busiest minute, relative to what is allowed',
          'at most',
          1,
          Math.max(...all.map(({ busiestMinute, allowed }) => busiestMinute / allowed)),
        ),
      ],
    };
  },
};

function rowOf(scenario: Scenario, outcome: Outcome): readonly string[] {
  const misses = missed(scenario, outcome);
  return [
    scenario.name,
    String(scenario.pinned ?? scenario.limit),
    formatNumber(outcome.allSampledAfterS, 0),
    formatNumber(outcome.fresh * 100, 1),
    formatNumber(outcome.worst * 100, 1),
    formatNumber(outcome.oldestMinutes, 1),
    formatNumber(outcome.wasted * 100, 1),
    formatNumber(outcome.listingIntervals ?? Number.NaN, 2),
    String(outcome.busiestMinute),
    formatNumber(outcome.allowed, 0),
    misses.length === 0 ? 'PASS' : `NO: ${misses.join(', ')}`,
  ];
}

function target(what: string, kind: Target['bound']['kind'], value: number, measured: number): Target {
  return { what, bound: { kind, value }, unit: '', measured };
}
