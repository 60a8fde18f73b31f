// The configuration file and the key file that `init` writes.

import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { type Asker, CANCELED } from './asker.ts';
import { CommandFailure } from './command-failure.ts';
import { existsMessage, makePrivate, realPath, requireDirectories, writePrivately } from './private-files.ts';

/** The flags that choose them. */
export interface OutputFlags {
  readonly config: string;
  readonly saveKeyTo?: string;
  readonly keyFile?: string;
  readonly force?: boolean;
}

/** A configuration file and its key file. Paths are displayed as they were typed. */
export class OutputPaths {
  readonly config: string;
  readonly key: string;
  /** The key was read from the key file, so that file isn't written. */
  readonly #keepsKey: boolean;

  constructor({ config, saveKeyTo, keyFile }: OutputFlags) {
    this.config = config;
    this.key = saveKeyTo ?? join(dirname(config), 'panel-key');
    this.#keepsKey = keyFile !== undefined && keyFile !== '-' && realPath(keyFile) === realPath(this.key);
  }

  /** The problem with the flags; undefined if there is none. */
  get problem(): string | undefined {
    if (realPath(this.config) !== realPath(this.key)) return undefined;
    return `expected different files for the configuration and the key, got ${this.config} for --config and ${this.key} for --save-key-to`;
  }

  /** The files that are written. */
  get written(): readonly string[] {
    return this.#keepsKey ? [this.config] : [this.config, this.key];
  }

  /** The path of the key file in the configuration. */
  get keyInConfig(): string {
    const near = relative(resolve(dirname(this.config)), resolve(this.key));
    return near.startsWith('..') || isAbsolute(near) ? resolve(this.key) : near;
  }

  /**
   * Whether existing files may be overwritten. Throws a CommandFailure if a file exists and may not
   * be overwritten, or if a directory doesn't exist.
   */
  async mayReplace(force: boolean, asker: Pick<Asker, 'confirms'> | undefined): Promise<boolean> {
    requireDirectories([this.config, this.key]);
    const taken = this.written.filter((path) => existsSync(path));
    if (taken.length === 0 || force) return force;
    if (asker === undefined) throw new CommandFailure(existsMessage(taken));
    const question = `${taken.join(' and ')} ${taken.length === 1 ? 'exists' : 'exist'}. Overwrite?`;
    if (await asker.confirms(question)) return true;
    throw new CommandFailure(CANCELED);
  }

  /** Writes both, or neither; throws a CommandFailure. */
  write(text: string, key: string, replaces: boolean): void {
    const config = { path: this.config, text };
    if (this.#keepsKey) makePrivate(this.key);
    // The key comes first, so that the configuration never refers to a missing file.
    const files = this.#keepsKey ? [config] : [{ path: this.key, text: `${key}\n` }, config];
    writePrivately(files, replaces);
  }
}
