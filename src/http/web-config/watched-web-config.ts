// A web configuration that is loaded again when its files change.

import { stat } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../domain/clock.ts';
import type { Logger } from '../../domain/logger.ts';
import { type Repeat, repeat } from '../../domain/repeated-work.ts';
import { KNOWN_SECRETS } from '../../text/redaction.ts';
import { formatIssues } from '../../yaml/issues.ts';
import type { Environment } from '../../yaml/variables.ts';
import type { WebSettings, WebSettingsSource } from '../web-settings.ts';
import { loadWebConfig, type WebConfigResult } from './load-web-config.ts';

/** How often the files are checked, in milliseconds. */
export const LOOK_EVERY_MS = 1_000;

interface WatchOptions {
  readonly file: string;
  readonly env: Environment;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * A web configuration that is reloaded when it or one of its files changes. An invalid one changes
 * nothing, and is logged once.
 */
export class WatchedWebConfig implements WebSettingsSource {
  current: WebSettings;
  readonly #options: WatchOptions;
  #looks: Repeat | undefined;
  readonly #listeners = new Set<() => void>();
  #files: readonly string[];
  /** The fingerprints of the files when they were last read. */
  #read = '';
  #problem: string | undefined;

  /** `loaded` is the file's content at the start. */
  constructor(options: WatchOptions, loaded: WebConfigResult & { readonly ok: true }) {
    this.#options = options;
    this.current = loaded.settings;
    this.#files = loaded.files;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  start(): void {
    this.#looks = repeat(this.#options.clock, async () => {
      const looks = (await Promise.all(this.#files.map(fingerprint))).join('\n');
      if (looks !== this.#read) await this.#load();
      this.#read = looks;
      return LOOK_EVERY_MS;
    });
  }

  stop(): void {
    this.#looks?.stop();
  }

  async #load(): Promise<void> {
    const { file, env, log } = this.#options;
    const loaded = await loadWebConfig(file, env);
    // Files that an invalid configuration names are also watched, because a missing one may be the
    // problem.
    this.#files = [...new Set([...loaded.files, ...(loaded.ok ? [] : this.#files)])];
    const known = this.#problem;
    this.#problem = loaded.ok ? lastingProblem(this.current, loaded.settings) : formatIssues(loaded.issues);
    if (this.#problem !== undefined && this.#problem !== known) {
      log.error({ file }, `web configuration reload failed, keeping the previous one: ${this.#problem}`);
    }
    if (!loaded.ok || this.#problem !== undefined || isDeepStrictEqual(loaded.settings, this.current)) return;
    KNOWN_SECRETS.replace(this.current.users.values(), loaded.settings.users.values());
    this.current = loaded.settings;
    log.info({ file }, 'web configuration reloaded');
    for (const warning of loaded.warnings) log.warn({}, formatIssues([warning]));
    for (const listener of this.#listeners) listener();
  }
}

/** Why the new settings require a restart; undefined if they don't. */
function lastingProblem(before: WebSettings, after: WebSettings): string | undefined {
  const protection = ({ tls }: WebSettings) => tls && tls.clientCertificate === 'no';
  // This applies even to a file that was just emptied, because that may be an accident that must
  // not remove the protection.
  if (protection(before) !== protection(after)) {
    return 'turning TLS or client certificates on or off requires a restart';
  }
  return before.users.size > 0 && after.users.size === 0
    ? 'disabling authentication (no basic_auth_users) requires a restart'
    : undefined;
}

/**
 * The attributes that change with a file. Symbolic links are followed, because Kubernetes swaps
 * them.
 */
function fingerprint(file: string): Promise<string> {
  return stat(file).then(
    ({ ino, size, mtimeMs, ctimeMs }) => [file, ino, size, mtimeMs, ctimeMs].join(' '),
    () => `${file} is missing`,
  );
}
