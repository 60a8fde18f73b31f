import { CAUSES } from '../diagnosis/causes.ts';
import type { Problem } from '../domain/problem.ts';
import type { NodeReading, ServerReading } from '../domain/reading.ts';

/** A node is in trouble once this many of its servers report it, or all of them if there are fewer. */
const SERVERS_NEEDED = 2;

/** The parts of a server's reading that concern its node. */
type ServerOfNode = Pick<ServerReading, 'node' | 'status' | 'isFresh'>;

interface Tally {
  fresh: number;
  /** Servers whose state says something about the node: not those that the panel blocks, such as suspended ones. */
  telling: number;
  readonly problems: Problem[];
}

/**
 * The state of a panel's nodes, judged by their servers; pure. A node is up while any of its servers is observed, and down if
 * several of them, or its only one, report a node problem and none is observed. Otherwise its state is unknown, which counts as
 * up.
 */
export function nodeReadings(servers: readonly ServerOfNode[], now: number): readonly NodeReading[] {
  const tallies = new Map<string, Tally>();
  for (const server of servers) {
    const { node, status } = server;
    if (node === undefined) continue;
    let tally = tallies.get(node);
    if (tally === undefined) {
      tally = { fresh: 0, telling: 0, problems: [] };
      tallies.set(node, tally);
    }
    note(tally, status.problem, server.isFresh(now));
  }
  return [...tallies].map(([name, tally]) => judged(name, tally));
}

function note(tally: Tally, problem: Problem | undefined, isFresh: boolean): void {
  if (isFresh) tally.fresh += 1;
  const cause = problem && CAUSES[problem.cause];
  if (isFresh || cause?.scope !== 'server') tally.telling += 1;
  if (problem !== undefined && cause?.scope === 'node' && cause.escalates && !isFresh)
    tally.problems.push(problem);
}

function judged(name: string, { fresh, telling, problems }: Tally): NodeReading {
  const needed = Math.max(1, Math.min(SERVERS_NEEDED, telling));
  if (fresh > 0 || problems.length < needed) return { name, up: true };
  return { name, up: false, problem: mostCommon(problems) };
}

/** The problem whose cause is most common among the servers; the first problem with that cause. */
function mostCommon(problems: readonly Problem[]): Problem | undefined {
  const counts = new Map<string, number>();
  for (const { cause } of problems) counts.set(cause, (counts.get(cause) ?? 0) + 1);
  const most = Math.max(...counts.values());
  return problems.find(({ cause }) => counts.get(cause) === most);
}
