// Loads the configuration again on request, one reload at a time.

import type { Config, LoadResult } from '../config/config.ts';
import type { Logger } from '../domain/logger.ts';
import type { ReloadOutcome } from '../http/routes.ts';
import { KNOWN_SECRETS } from '../text/redaction.ts';
import { quantity } from '../text/sentences.ts';
import { formatIssues } from '../yaml/issues.ts';
import type { ConfigChanges } from './supervisor.ts';

interface ReloaderOptions {
  readonly log: Logger;
  /**
   * Reads the configuration and the files that it refers to; absent if the configuration doesn't
   * come from a file.
   */
  readonly load?: () => Promise<LoadResult>;
  /** Applies a configuration; rejects without having changed anything if that isn't possible. */
  readonly apply: (config: Config) => Promise<ConfigChanges>;
  /** Called with the outcome of each reload. */
  readonly ended: (successful: boolean) => void;
}

/**
 * Reloads on request. `config/reload-effects.ts` decides what a changed setting affects, and
 * `Supervisor.apply` rebuilds or changes the panels.
 */
export class Reloader {
  readonly #options: ReloaderOptions;
  #running: Promise<ReloadOutcome> | undefined;
  #waiting: Promise<ReloadOutcome> | undefined;
  #isStopped = false;

  constructor(options: ReloaderOptions) {
    this.#options = options;
  }

  /** Starts a reload, or joins the next one if a reload is running. */
  reload(): Promise<ReloadOutcome> {
    if (this.#waiting !== undefined) return this.#waiting;
    if (this.#running === undefined) return this.#begin();
    this.#waiting = this.#running.then(() => {
      this.#waiting = undefined;
      return this.#begin();
    });
    return this.#waiting;
  }

  /** Prevents any further reload. */
  stop(): void {
    this.#isStopped = true;
  }

  #begin(): Promise<ReloadOutcome> {
    const running = this.#reload().finally(() => {
      if (this.#running === running) this.#running = undefined;
    });
    this.#running = running;
    return running;
  }

  async #reload(): Promise<ReloadOutcome> {
    const { load, apply, ended, log } = this.#options;
    if (load === undefined) return this.#failed(['there is no configuration file to reload']);
    try {
      const loaded = await load();
      if (this.#isStopped) return { ok: false, problems: 'the exporter is stopping' };
      if (!loaded.ok) return this.#failed(loaded.issues.map((issue) => formatIssues([issue])));
      const changes = await apply(loaded.config);
      ended(true);
      const summary = `configuration reloaded: ${describeChanges(changes)}`;
      log.info({ ...changes }, summary);
      return { ok: true, summary };
    } catch (error) {
      return this.#failed([error instanceof Error ? error.message : String(error)]);
    }
  }

  #failed(problems: readonly string[]): ReloadOutcome {
    const { log, ended } = this.#options;
    ended(false);
    log.error(
      { problems: problems.length },
      `configuration reload failed, keeping the previous one: ${quantity(problems.length, 'problem')}`,
    );
    for (const problem of problems) log.error({}, problem);
    return { ok: false, problems: KNOWN_SECRETS.redact(problems.join('\n')) };
  }
}

/** What changed, in one line. */
export function describeChanges({ panels, servers }: ConfigChanges): string {
  const parts = [describeCounts('panel', panels), describeCounts('server', servers)];
  const isSame = [panels, servers].every((counts) =>
    Object.entries(counts).every(([outcome, count]) => count === 0 || outcome === 'unchanged'),
  );
  return isSame ? `nothing changed (${parts.join('; ')})` : parts.join('; ');
}

function describeCounts(noun: string, counts: Readonly<Record<string, number>>): string {
  const shown = Object.entries(counts).filter(([outcome, count]) => count > 0 || outcome === 'unchanged');
  return `${noun}s: ${shown.map(([outcome, count]) => `${count} ${outcome}`).join(', ')}`;
}
