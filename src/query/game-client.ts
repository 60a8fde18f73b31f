import { sleep } from '../domain/clock.ts';
import type { Problem } from '../domain/problem.ts';
import { inScope } from '../domain/until-aborted.ts';
import { Attempt, type AttemptOptions } from './attempt.ts';
import {
  type Asked,
  inSeconds,
  type Players,
  QUERY_DEADLINE_MS,
  QUERY_FAILURES,
  type QueryClient,
  type QueryFailure,
  type QueryTarget,
} from './client.ts';
import { type Way, waysOf } from './types.ts';

/** Queries that begin within this time begin together: waking the decoding thread costs more than its work. */
const GATHER_MS = 100;

/** While one protocol is awaited at a port, the next one is tried after this time, so that its server's response isn't late. */
const NEXT_PROTOCOL_MS = 400;

/** The number of servers whose successful way is remembered. */
const MAX_REMEMBERED = 20_000;

/** The ways to query a port of an address. */
interface Place {
  readonly ip: string;
  readonly ways: readonly Way[];
}

interface KnownWay extends Way {
  readonly ip: string;
}

/**
 * Queries games in the ways of their types. Ports are tried one after another, each for its share of the time, so that a port that
 * may belong to another server never responds in place of a slow one.
 */
export class GameClient implements QueryClient {
  readonly #options: AttemptOptions;
  /** The way that succeeded for servers that don't respond to the first one. */
  readonly #known = new Map<string, KnownWay>();
  #gathering: Promise<void> | undefined;

  constructor(options: AttemptOptions) {
    this.#options = options;
  }

  async query(target: QueryTarget, signal: AbortSignal): Promise<Asked> {
    await this.#gathered();
    const { clock } = this.#options;
    const startedAt = clock.now();
    const passedMs = () => clock.now() - startedAt;
    const places = this.#placesOf(target);
    const failures: QueryFailure[] = [];
    for (const [index, place] of places.entries()) {
      if (signal.aborted) break;
      const shareMs = (QUERY_DEADLINE_MS - passedMs()) / (places.length - index);
      const answer = await this.#queryPlace(target, place, failures, shareMs, signal);
      if (answer !== undefined) return { ...answer, durationSeconds: inSeconds(passedMs()) };
    }
    return { problem: combined(failures), durationSeconds: inSeconds(passedMs()) };
  }

  #gathered(): Promise<void> {
    this.#gathering ??= new Promise((resolve) => {
      this.#options.clock.schedule(GATHER_MS, () => {
        this.#gathering = undefined;
        resolve();
      });
    });
    return this.#gathering;
  }

  /** Queries a port of an address in several ways; the first response ends it. */
  #queryPlace(
    target: QueryTarget,
    { ip, ways }: Place,
    failures: QueryFailure[],
    withinMs: number,
    signal: AbortSignal,
  ): Promise<Players | undefined> {
    const { clock } = this.#options;
    return inScope(signal, async (scope) => {
      let answer: Players | undefined;
      const run = async (way: Way) => {
        const result = await new Attempt({ ...target, ip }, way, this.#options, scope.signal).result;
        if ('cause' in result) failures.push(result);
        else {
          answer ??= result;
          this.#remember(target, { ...way, ip });
          scope.abort();
        }
      };
      const cancel = clock.schedule(withinMs, () => scope.abort());
      const runs: Promise<void>[] = [];
      try {
        for (const way of ways) {
          if (scope.signal.aborted) break;
          const latest = run(way);
          runs.push(latest);
          await Promise.race([latest, sleep(clock, NEXT_PROTOCOL_MS, scope.signal).catch(() => {})]);
        }
        await Promise.all(runs);
        return answer;
      } finally {
        cancel();
        scope.abort();
      }
    });
  }

  /** Where and how to query a server: the address, port and protocol that responded last time come first. */
  #placesOf(target: QueryTarget): readonly Place[] {
    const known = this.#known.get(keyOf(target));
    const first = <Item>(items: readonly Item[], item: Item | undefined) =>
      items.toSorted((a, b) => Number(b === item) - Number(a === item));
    const ways = waysOf(target);
    const ports = first([...new Set(ways.map(({ port }) => port))], known?.port);
    return ports.flatMap((port) => {
      const here = ways.filter((way) => way.port === port);
      const ordered = first(
        here,
        here.find(({ protocol }) => protocol === known?.protocol),
      );
      return first([target.ip, ...(target.otherIps ?? [])], known?.ip).map((ip) => ({ ip, ways: ordered }));
    });
  }

  #remember(target: QueryTarget, way: KnownWay): void {
    const key = keyOf(target);
    this.#known.delete(key);
    this.#known.set(key, way);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_REMEMBERED && oldest !== undefined) this.#known.delete(oldest);
  }
}

function keyOf({ type, ip, port, isQueryPort }: QueryTarget): string {
  return [type, ip, port, isQueryPort].join(' ');
}

/** The most informative cause, and what happened at each address and port. */
function combined(failures: readonly QueryFailure[]): Problem {
  const rank = ({ cause }: QueryFailure) => QUERY_FAILURES.indexOf(cause);
  const ordered = failures.toSorted((a, b) => rank(a) - rank(b));
  const details = new Set(ordered.map(({ detail }) => detail));
  return { cause: ordered[0]?.cause ?? 'query_no_answer', detail: [...details].join('; ') || 'not queried' };
}
