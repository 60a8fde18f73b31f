/**
 * A round of canaries: one call of each kind in use, which together show whether the panel works.
 */
import { CAUSES } from '../../diagnosis/causes.ts';
import { callSigns, isUnknownPath } from '../../diagnosis/signs.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Problem } from '../../domain/problems.ts';
import { sleep } from '../../domain/waits.ts';
import { PanelError, toProblem } from '../panel-error.ts';
import { NO_SERVER, type Path } from '../subjects.ts';
import type { Enqueue } from './trial-call.ts';

/** The kinds of calls that are used as canaries. */
const CANARIES = ['listing', 'websocket', 'resources'] as const;

/** After this time, the next kind is tried as well. */
const NEXT_CANARY_MS = 2_000;

export interface RoundOptions {
  readonly clock: Clock;
  readonly enqueue: Enqueue;
  /** Is this kind of call in use? */
  readonly isUsed: (path: Path) => boolean;
  /** The servers that may be asked, the best first. */
  readonly candidates: (path: Path) => Iterable<string>;
  /**
   * The number of earlier rounds during this outage. Each round begins with another kind, even
   * after one without a result: a rate limit for one kind of call mustn't hide that others work.
   */
  readonly earlierRounds: number;
  readonly isBlamed: boolean;
  /** Without a server list, a 404 after a success is about the server. */
  readonly isListMissing: boolean;
  readonly isKnown: boolean;
}

/** Resolves with the panel's problem if every kind of call failed. */
export async function askCanaries(options: RoundOptions, signal: AbortSignal): Promise<Problem | undefined> {
  const { clock, isUsed, earlierRounds, isBlamed, isKnown } = options;
  const used = CANARIES.filter(isUsed);
  const canaries: Promise<Problem | 'unused' | undefined>[] = [];
  let list: (typeof canaries)[number] | undefined;
  for (const offset of used.keys()) {
    const path = used[(earlierRounds + offset) % used.length] ?? 'listing';
    const canary = ask(path, options, signal);
    canaries.push(canary);
    if (path === 'listing') list = canary;
    const result = await Promise.race([canary, sleep(clock, NEXT_CANARY_MS, signal)]);
    // An earlier round has shown that every kind of call is rejected, so one rejection is now
    // enough.
    if (isBlamed && typeof result === 'object' && CAUSES[result.cause].scope === 'key') return result;
  }
  const results = (await Promise.all(canaries)).filter((result) => result !== 'unused');
  const problems = results.filter((result) => result !== undefined);
  // A call without a result, such as one with a 429, might have worked.
  if (problems.length < results.length) return undefined;
  // A panel that worked before may have no such server. If its list is missing, too, the address is
  // wrong.
  const ofList = await list;
  const hasAddress = isKnown && typeof ofList === 'object' && !isUnknownPath(ofList.cause);
  if (hasAddress && problems.some(({ cause }) => isUnknownPath(cause))) return undefined;
  return problems.find(mayBeOfKey) ?? problems[0];
}

/** Resolves with the problem if the panel may cause it. */
async function ask(
  path: Path,
  { enqueue, candidates, isListMissing, isKnown }: RoundOptions,
  signal: AbortSignal,
): Promise<Problem | 'unused' | undefined> {
  const servers = path === 'listing' ? [NO_SERVER] : candidates(path);
  const call = enqueue({ path, servers, tries: 'panel', needsRoom: true }, signal);
  if (call === undefined) return 'unused';
  const error = await call.end;
  if (path === 'listing' && isListMissing) return 'unused';
  if (error === undefined) return undefined;
  const problem = toProblem(error);
  const fromPanel = error instanceof PanelError && error.fromPanel;
  const end = { endpoint: path, cause: problem.cause, fromPanel, isProven: isKnown && isListMissing };
  return callSigns(end).panel === 'fails' ? problem : undefined;
}

/**
 * Problems that the panel itself reports about the key are preferred to those of the other
 * canaries.
 */
function mayBeOfKey({ cause }: Problem): boolean {
  return CAUSES[cause].scope === 'key' || cause === 'unauthorized';
}
