// The visible problems and the data of a simulated world, second by second.
import type { World } from '../../bench/fairness/simulation.ts';
import type { CauseCode, Problem } from '../../src/domain/problems.ts';
import { busiestMinute } from './busiest-minute.ts';

/** The visible state of a world at one time. */
export interface Look {
  readonly up: boolean;
  readonly fresh: number;
  readonly streaming: number;
  /** The number of servers that ever had data. */
  readonly sampled: number;
  /** The causes of the panel's problems. */
  readonly causes: readonly CauseCode[];
  /** The causes of nodes with a problem. */
  readonly nodes: Readonly<Record<string, CauseCode>>;
  /** The age of each server's newest sample, in seconds. Infinite before the first sample. */
  readonly ages: readonly number[];
  /** The reasons of the servers that the panel blocks. */
  readonly blocked: readonly string[];
  /**
   * The subjects with a problem: `panel`, `path websocket`, `node n0`. A subject with two problems
   * appears twice.
   */
  readonly blamed: readonly string[];
}

/** The visible states of a world over some minutes. */
export interface Seen {
  /** The state in this second after the start. */
  at(second: number): Look;
  /** The seconds until every server had data. Infinite if one never had any. */
  readonly allSampledAfterS: number;
  /** The seconds from this second until all servers that may stream did. */
  allStreamAfterS(second: number): number;
  allFreshAfterS(second: number): number;
  /** The seconds from this second until there were no more problems. */
  allWellAfterS(second: number): number;
  /** Whether the panel as a whole ever had a problem. */
  readonly wasDown: boolean;
  readonly busiestMinute: number;
  /** The number of responses with status 429. */
  readonly throttled: number;
  /** All subjects that ever had a problem. */
  readonly blamed: ReadonlySet<string>;
  readonly mostCausesPerScope: number;
  readonly warnings: readonly string[];
}

/** Lets minutes pass in a world, and records its state every second. */
export async function watchWorld(world: World, minutes: number): Promise<Seen> {
  const { clock, fleet, gateway, panel, warnings } = world;
  const looks: Look[] = [];
  let wasDown = false;
  const streamable = fleet.records.filter(({ target }) => target.mode !== 'poll').length;
  for (let second = 0; second <= minutes * 60; second += 1) {
    if (second > 0) await clock.advance(1_000);
    const now = clock.now();
    const reading = fleet.reading();
    const nodes = reading.nodes(now);
    const { health } = gateway;
    looks.push({
      up: reading.up,
      fresh: fleet.records.filter((record) => record.isFresh(now)).length,
      streaming: fleet.records.filter(({ status }) => status.condition === 'streaming').length,
      sampled: fleet.records.filter(({ sampledAt }) => sampledAt !== undefined).length,
      ages: fleet.records.map(({ sampledAt = Number.NEGATIVE_INFINITY }) => (now - sampledAt) / 1_000),
      blocked: fleet.records.flatMap(({ status: { blocked } }) => (blocked === undefined ? [] : [blocked])),
      causes: reading.problems.map(({ cause }) => cause),
      nodes: Object.fromEntries(
        nodes.flatMap(({ name, problem }) => (problem === undefined ? [] : [[name, problem.cause] as const])),
      ),
      blamed: [
        ...reading.problems.map((problem) => (health === 'down' ? 'panel' : scopeOf(problem))),
        ...nodes.filter(({ problem }) => problem !== undefined).map(({ name }) => `node ${name}`),
      ],
    });
    wasDown ||= health === 'down';
  }
  const secondsUntil = (from: number, isMet: (look: Look) => boolean): number => {
    const found = looks.findIndex((look, second) => second >= from && isMet(look));
    return found < 0 ? Number.POSITIVE_INFINITY : found - from;
  };
  return {
    at: (second) => {
      const look = looks[second];
      if (look === undefined) throw new Error(`expected a look after ${second} s`);
      return look;
    },
    allSampledAfterS: secondsUntil(0, ({ sampled }) => sampled === fleet.records.length),
    allStreamAfterS: (from) => secondsUntil(from, ({ streaming }) => streaming === streamable),
    allFreshAfterS: (from) => secondsUntil(from, ({ fresh }) => fresh === fleet.records.length),
    allWellAfterS: (from) => secondsUntil(from, ({ blamed }) => blamed.length === 0),
    wasDown,
    busiestMinute: busiestMinute(panel.calls.map(({ at }) => at)),
    throttled: panel.throttled,
    blamed: new Set(looks.flatMap(({ blamed }) => blamed)),
    mostCausesPerScope: Math.max(...looks.map(({ blamed }) => mostAlike(blamed))),
    warnings,
  };
}

/** The scope of a problem while the panel works: one of its paths, or the scope of the cause. */
function scopeOf({ cause, detail }: Problem): string {
  const [, path] = /^(\w+) calls only: /.exec(detail) ?? [];
  return path === undefined ? cause : `path ${path}`;
}

/** The number of occurrences of the most frequent name. */
function mostAlike(names: readonly string[]): number {
  return Math.max(0, ...names.map((name) => names.filter((other) => other === name).length));
}
