// Counts late samples.

/** The number of samples at several instants, and of those that were older than 1.2 s and 2 s. */
export interface Lateness {
  readonly samples: number;
  readonly over1200Ms: number;
  readonly over2000Ms: number;
}

export function lateness(agesMs: readonly number[]): Lateness {
  const over = (limitMs: number) => agesMs.reduce((count, ageMs) => count + (ageMs > limitMs ? 1 : 0), 0);
  return { samples: agesMs.length, over1200Ms: over(1_200), over2000Ms: over(2_000) };
}

export function addLateness(a: Lateness, b: Lateness): Lateness {
  return {
    samples: a.samples + b.samples,
    over1200Ms: a.over1200Ms + b.over1200Ms,
    over2000Ms: a.over2000Ms + b.over2000Ms,
  };
}
