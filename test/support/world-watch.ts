import type { World } from '../../bench/fairness/simulation.ts';
import type { CauseCode, Problem } from '../../src/domain/problems.ts';
import { busiestMinute } from './busiest-minute.ts';

/** What was to be seen of a world at one instant. */
export interface Look {
  readonly up: boolean;
  readonly fresh: number;
  readonly streaming: number;
  /** Servers that ever had data. */
  readonly sampled: number;
  /** Of the panel. */
  readonly causes: readonly CauseCode[];
  /** The cause of each node that has a problem. */
  readonly nodes: Readonly<Record<string, CauseCode>>;
  /** How old each server's newest sample is, in seconds; infinite if it never had one. */
  readonly ages: readonly number[];
  /** Why each server that the panel blocks is blocked. */
  readonly blocked: readonly string[];
  /** What has a problem: `panel`, `path websocket`, `node n0`; twice if it has two. */
  readonly blamed: readonly string[];
}

/** What was to be seen of a world over some minutes, second by second. */
export interface Seen {
  /** At this second since the watch began. */
  at(second: number): Look;
  /** After how many seconds every server had data; infinite if one never had. */
  readonly allSampledAfterS: number;
  /** How many seconds after that second every server that may stream did. */
  allStreamAfterS(second: number): number;
  allFreshAfterS(second: number): number;
  /** How many seconds after that second nothing had a problem any more. */
  allWellAfterS(second: number): number;
  /** Had the panel as a whole ever a problem? */
  readonly wasDown: boolean;
  readonly busiestMinute: number;
  /** Responses with 429. */
  readonly throttled: number;
  /** Everything that ever had a problem. */
  readonly blamed: ReadonlySet<string>;
  readonly mostCausesPerScope: number;
  readonly warnings: readonly string[];
}

/** Lets minutes pass in a world, and looks at it every second. */
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

/** What a problem of a panel that works is about: one of its paths, or what its cause is about. */
function scopeOf({ cause, detail }: Problem): string {
  const [, path] = /^(\w+) calls only: /.exec(detail) ?? [];
  return path === undefined ? cause : `path ${path}`;
}

/** How often the most frequent of these occurs. */
function mostAlike(names: readonly string[]): number {
  return Math.max(0, ...names.map((name) => names.filter((other) => other === name).length));
}
