import { problemLine, shortTitle, withRemedy } from '../diagnosis/causes.ts';
import type { Cancel, Clock } from '../domain/clock.ts';
import type { Logger } from '../domain/log.ts';
import type { Problem } from '../domain/problem.ts';
import { PATHS, type Path } from './blame.ts';
import type { Health } from './health.ts';
import type { Allowance, PauseScope, RateLimit } from './rate-limit.ts';

export interface PanelLogOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** The panel's name. */
  readonly panel: string;
  /** The panel's address. */
  readonly baseUrl: string;
}

/** What the log lines about troubles are derived from. */
interface PanelView {
  readonly health: Health;
  /** The problem of the account that is denied every console. */
  readonly consoles: Problem | undefined;
  /** The problem of a path that fails although the panel works. */
  readonly pathProblem: (path: Path) => Problem | undefined;
}

/** What a line is about. */
type Topic = 'panel' | 'consoles' | Path;

/** A problem that comes and goes is logged this often. */
const REPEATED_EVERY_MS = 60_000;

/** The log lines about a panel: when a problem of its own, of its consoles or of a path begins and ends, and its rate limit. */
export class PanelLog {
  readonly #options: PanelLogOptions;
  readonly #url: string;
  /** The problem that was logged last on each topic, and when. */
  readonly #logged = new Map<Topic, { readonly problem: Problem | undefined; readonly at: number }>();
  #cancelTimer: Cancel = () => undefined;

  constructor(options: PanelLogOptions) {
    this.#options = options;
    const { origin, pathname } = new URL(options.baseUrl);
    this.#url = origin + pathname.replace(/\/$/, '');
  }

  /** Logs what changed; a topic that was logged within the last minute waits. */
  follow(view: PanelView): void {
    this.#cancelTimer();
    const { health, consoles, pathProblem } = view;
    // The end of a problem is logged once a call has shown it.
    if (health.state === 'unknown') return;
    const { clock } = this.#options;
    const now = clock.now();
    let nextAt = Number.POSITIVE_INFINITY;
    for (const topic of ['panel', 'consoles', ...PATHS] as const) {
      const before = this.#logged.get(topic);
      // The panel's own problem explains the others.
      if (topic !== 'panel' && health.problem !== undefined) continue;
      const problem =
        topic === 'panel' ? health.problem : topic === 'consoles' ? consoles : pathProblem(topic);
      if (problem?.cause === before?.problem?.cause) continue;
      const mayLogAt = (before?.at ?? Number.NEGATIVE_INFINITY) + REPEATED_EVERY_MS;
      if (topic !== 'panel' && mayLogAt > now) {
        nextAt = Math.min(nextAt, mayLogAt);
        continue;
      }
      this.#logged.set(topic, { problem, at: now });
      this.#write(topic, problem, before?.problem);
    }
    if (Number.isFinite(nextAt)) this.#cancelTimer = clock.schedule(nextAt - now, () => this.follow(view));
  }

  /** The panel reported another limit. */
  learned({ knownPerMinute: known, allowedPerMinute, isPinned }: RateLimit, wasKnown: boolean): void {
    if (isPinned) return;
    const { log, panel } = this.#options;
    const perMinute = Number(allowedPerMinute.toFixed(1));
    log[wasKnown ? 'info' : 'debug'](
      { panel, limit: known, perMinute: allowedPerMinute },
      `panel ${panel}: rate limit ${known ?? 0}/min; using at most ${perMinute}/min`,
    );
  }

  /** The panel demanded a pause. */
  paused({
    scope,
    lengthMs,
    isRepeated,
  }: {
    scope: PauseScope;
    lengthMs: number;
    isRepeated: boolean;
  }): void {
    const { log, panel } = this.#options;
    const seconds = Math.ceil(lengthMs / 1_000);
    const words =
      scope === 'account'
        ? `no calls for ${seconds} s. The limit applies to the account: give the exporter its own account, or lower requests_per_minute.`
        : `no calls for ${scope} for ${seconds} s. Only these are limited, by the panel or by a proxy in front of it.`;
    const level = isRepeated || scope.startsWith('tokens of ') ? 'debug' : 'warn';
    log[level](
      { panel, cause: 'rate_limited', seconds },
      `panel ${panel}: rate limit exceeded (429): ${words}`,
    );
  }

  /** The pause of all calls or of one path, as a problem of a panel that works. */
  pauseProblem({ pauses }: Allowance, path?: Path): Problem | undefined {
    const { clock } = this.#options;
    const scopes: readonly PauseScope[] = path === undefined ? ['account', ...PATHS] : [path];
    const scope = scopes.find((one) => pauses.has(one));
    if (scope === undefined) return undefined;
    const time = new Date(clock.toUnixMs(pauses.get(scope)?.until ?? 0)).toISOString().slice(11, 19);
    const calls = scope === 'account' ? 'calls' : `calls for ${scope}`;
    return { cause: 'rate_limited', detail: `rate limit exceeded (429): no ${calls} until ${time} UTC` };
  }

  stop(): void {
    this.#cancelTimer();
  }

  #write(topic: Topic, problem: Problem | undefined, before: Problem | undefined): void {
    const { log, panel } = this.#options;
    const subject = `panel ${panel} (${this.#url})`;
    const endpoint = topic === 'panel' || topic === 'consoles' ? undefined : topic;
    const fields = {
      panel,
      url: this.#url,
      ...(endpoint && { endpoint }),
      ...(problem && { cause: problem.cause, detail: problem.detail }),
    };
    if (problem === undefined) {
      const words = { panel: 'is available again: resuming calls', consoles: 'grants console access again' };
      const path = `responds to ${topic} calls again`;
      log.info(fields, `${subject} ${topic === 'panel' || topic === 'consoles' ? words[topic] : path}`);
    } else if (topic === 'panel') {
      // If a panel that is already down fails in another way, that isn't worth another error.
      log[before === undefined ? 'error' : 'warn'](
        fields,
        `${subject}: ${problemLine(problem)} Retrying at least once a minute.`,
      );
    } else if (topic === 'consoles') log.warn(fields, `${subject}: ${problemLine(problem)}`);
    else
      log.warn(
        fields,
        `${subject}: ${shortTitle(problem.cause)}, for ${topic} calls only: ${withRemedy(problem)}`,
      );
  }
}
