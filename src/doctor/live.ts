import { spokenDuration } from './estimate.ts';
import type { Paint } from './paint.ts';
import { paintResult } from './paint.ts';
import type { Finding, ServerReport } from './report.ts';

/** How one panel's servers are getting on; instants and durations in milliseconds. */
export interface Pace {
  readonly total: number;
  readonly done: number;
  readonly plannedMs: number;
  readonly elapsedMs: number;
}

/** After so many servers their own pace says more than the plan. */
const TELLING_SERVERS = 10;

/** How long the rest is likely to take, in milliseconds. */
export function remainingMs({ total, done, plannedMs, elapsedMs }: Pace): number {
  if (done >= TELLING_SERVERS) return (elapsedMs / done) * (total - done);
  return Math.max(0, plannedMs - elapsedMs);
}

/** The line that stands below all others while panels' servers are tried, without a line break. */
export function statusLine(paces: readonly Pace[], now: string, columns: number): string {
  const sum = (of: (pace: Pace) => number) => paces.reduce((total, pace) => total + of(pace), 0);
  const left = Math.max(0, ...paces.map(remainingMs));
  const counted = `${sum(({ done }) => done)} of ${sum(({ total }) => total)} servers, about ${spokenDuration(left)} left`;
  const line = paces.length === 0 ? now : `${counted} · ${now}`;
  return line.length < columns ? line : `${line.slice(0, Math.max(0, columns - 2))}…`;
}

/** A finished step as a line. */
export function stepLine(subject: string, { step, result, detail }: Finding, paint: Paint): string {
  const word = result === 'skipped' ? paint('dim', 'skipped') : paintResult(result, paint);
  return `${subject}: ${step} ${word}${detail === '' ? '' : `: ${detail}`}`;
}

/** A finished server as a line: the first failure, or how far all is well. */
export function serverLine(panel: string, { name, steps }: ServerReport, paint: Paint): string {
  const failure = steps.find(({ result }) => result === 'failed');
  const subject = `${panel}: ${name}`;
  if (failure !== undefined) return stepLine(subject, failure, paint);
  const tried = steps.filter(({ result }) => result === 'ok').map(({ step }) => step);
  if (tried.length === 0) return `${subject}: ${paint('dim', 'not tried')}`;
  return `${subject}: ${paintResult('ok', paint)} (${tried.join(', ')})`;
}
