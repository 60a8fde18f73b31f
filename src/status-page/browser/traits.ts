// The traits of servers, which counts and filters share.
import { attentionGroup, attentionSeverity } from '../data/attention-codes.ts';
import type { LiveServer } from '../data/live-fields.ts';
import { unclearTitle } from '../data/titles.ts';

/**
 * The verdicts on servers, with the titles of their counts for one server and for several. The
 * column "Problem" is empty for a server without a verdict.
 */
export const VERDICTS = {
  down: ['down', 'down'],
  no_data: ['no data', 'no data'],
  warning: ['warning', 'warnings'],
  unclear: [unclearTitle(1), unclearTitle(undefined)],
  minor: ['minor problem', 'minor problems'],
  crashed: ['crashed in the last hour', 'crashed in the last hour'],
  note: ['note', 'notes'],
} as const satisfies Readonly<Record<string, readonly [one: string, several: string]>>;

export type Verdict = keyof typeof VERDICTS;

export const VERDICT_CODES = Object.keys(VERDICTS) as readonly Verdict[];

/**
 * The verdict on a server: a problem that counts, a minor problem of a server with data, or a fact.
 */
export function judgeServer(server: LiveServer): Verdict | undefined {
  const { attention, complaint, blocked, last_crash: crash } = server;
  if (attention !== undefined) return attentionGroup(attention);
  if (complaint === undefined) return undefined;
  if (complaint.severity !== 'fact') return 'minor';
  // The reason why the panel blocks a server is shown with its state.
  if (blocked !== undefined) return undefined;
  return crash === undefined ? 'note' : 'crashed';
}

/** Whether a server has a problem, even a minor one. */
export function hasProblem(server: LiveServer): boolean {
  const verdict = judgeServer(server);
  return verdict !== undefined && verdict !== 'unclear' && verdict !== 'crashed' && verdict !== 'note';
}

/** Whether nothing about a server has been read yet, as in the first minutes of a large fleet. */
export function isUnread(server: LiveServer): boolean {
  const { state, attention, complaint, last_sample_timestamp_seconds: sampled } = server;
  return state === 'unknown' && sampled === undefined && attention === undefined && complaint === undefined;
}

/** A server's traits, each a kind and a value, such as `state:running`. */
export function listTraits(server: LiveServer): readonly string[] {
  const { attention, state, condition, panel } = server;
  const traits = [`state:${state}`, `condition:${condition}`, `panel:${panel}`];
  const verdict = judgeServer(server);
  if (verdict !== undefined) traits.push(`verdict:${verdict}`);
  if (isUnread(server)) traits.push('data:unread');
  if (server.last_crash !== undefined) traits.push('data:crashed');
  if (attention === undefined) return traits;
  traits.push(`attention:${attention}`);
  if (hasProblem(server)) traits.push('attention:any');
  return traits;
}

/** The severity of the problem that counts; undefined if the server has none. */
export function alarmLevel({ attention }: LiveServer): 'error' | 'warning' | undefined {
  const severity = attention && attentionSeverity(attention);
  return severity === 'fact' ? undefined : severity;
}
