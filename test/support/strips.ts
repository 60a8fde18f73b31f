// Strips of states for tests of the status page.
import { STRIP_STATES, type Strip, type StripState } from '../../src/domain/strip.ts';

/** A strip with these points, oldest first, and this many seconds in each state. */
export function stripWith(
  runs: readonly (readonly [state: StripState, points: number])[],
  seconds: Readonly<Partial<Record<StripState, number>>> = {},
): Strip {
  return {
    worst: runs.flatMap(([state, points]) =>
      Array.from({ length: points }, () => STRIP_STATES.indexOf(state)),
    ),
    seconds: STRIP_STATES.map((state) => seconds[state] ?? 0),
  };
}
