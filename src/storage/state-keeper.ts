// Keeps the state of the servers in a file, across restarts of the exporter.
// `domain/kept-server.ts` lists what is kept.

import { mkdir, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../domain/clock.ts';
import type { KeptServer } from '../domain/kept-server.ts';
import type { Logger } from '../domain/logger.ts';
import { type Repeat, repeat } from '../domain/repeated-work.ts';
import type { ServerTarget } from '../domain/server.ts';
import { isSameServer, shortId } from '../domain/server-ids.ts';
import { formatDuration } from '../text/duration.ts';
import { errorCode } from '../text/error-code.ts';
import { quantity } from '../text/sentences.ts';
import { writeAtomically } from './atomic-write.ts';
import { ProcessLock } from './process-lock.ts';
import { type ReadState, readStateText, stateText } from './state-text.ts';

const INTERVAL_MS = 60_000;

/** A kept server is forgotten if it hasn't been found again within this time. */
const FORGOTTEN_AFTER_MS = 86_400_000;

/** More than the state of 50,000 servers, which is the highest number. */
const MAX_BYTES = 64 * 1_048_576;

/** The minimum difference at which the clock counts as set back. */
const SET_BACK_MS = 5_000;

const OFF = 'or turn this off with --storage.path= (empty)';
const ROOM = `delete files there, ${OFF}`;
const WRITABLE = `set --storage.path to a folder that the exporter can write, ${OFF}`;

interface KeeperOptions {
  /** The folder. It is created if it is missing. */
  readonly folder: string;
  /** The index of the shard, which has its own file. */
  readonly shard: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The source of the servers to keep. */
export interface KeptSource {
  keep(): Iterable<KeptServer>;
  /** The configured panels. Kept servers of other panels are forgotten. */
  panels(): readonly { readonly name: string }[];
}

/**
 * The state file of one exporter. Problems with it never stop the exporter: at worst, nothing is
 * kept, and a warning gives the reason.
 */
export class StateKeeper {
  readonly #options: KeeperOptions;
  readonly #file: string;
  readonly #lock: ProcessLock;
  /** The kept state of servers that haven't been found yet, by panel and short id. */
  readonly #kept = new Map<string, KeptServer>();
  #source: KeptSource | undefined;
  #writes: Repeat | undefined;
  #writing: Promise<void> = Promise.resolve();
  /** The last warning, which isn't repeated. */
  #problem: string | undefined;

  private constructor(options: KeeperOptions) {
    this.#options = options;
    const name = join(options.folder, `state-${options.shard}`);
    this.#file = name;
    this.#lock = new ProcessLock(`${name}.lock`);
  }

  /** Reads the kept state, if there is any. Never rejects. */
  static async open(options: KeeperOptions): Promise<StateKeeper> {
    const keeper = new StateKeeper(options);
    const mayWrite = await keeper.#prepare();
    await keeper.#read(mayWrite);
    return keeper;
  }

  /** Takes the kept state of a server. This is possible only once, because the state ages. */
  take(target: ServerTarget): KeptServer | undefined {
    const key = stateKey(target);
    const kept = this.#kept.get(key);
    if (kept === undefined || !isSameServer(kept, target)) return undefined;
    this.#kept.delete(key);
    return kept;
  }

  /** Starts to write the servers of this source every minute. */
  start(source: KeptSource): void {
    this.#source = source;
    let isFirst = true;
    this.#writes = repeat(this.#options.clock, async () => {
      if (!isFirst) await this.#write();
      isFirst = false;
      return INTERVAL_MS;
    });
  }

  /** Writes one last time. Never rejects. */
  async stop(): Promise<void> {
    this.#writes?.stop();
    await this.#write();
    await this.#lock.release();
  }

  /** Writes, one write after the other. */
  #write(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#writeNow());
    return this.#writing;
  }

  async #writeNow(): Promise<void> {
    const source = this.#source;
    if (source === undefined || !(await this.#prepare())) return;
    try {
      await writeAtomically(this.#file, stateText(this.#all(source)));
      this.#works();
    } catch (error) {
      this.#warn(describeError(error), writeAdvice(error));
    }
  }

  /** The current servers, and those that haven't been seen since the start. */
  *#all(source: KeptSource): Generator<KeptServer, void, void> {
    const { clock } = this.#options;
    yield* source.keep();
    const panels = new Set(source.panels().map(({ name }) => name));
    const oldest = clock.toUnixMs(clock.now()) - FORGOTTEN_AFTER_MS;
    for (const [key, kept] of this.#kept) {
      if (panels.has(kept.panel) && kept.seenAt >= oldest) yield kept;
      else this.#kept.delete(key);
    }
  }

  /** Whether the folder exists and no other exporter writes the file. */
  async #prepare(): Promise<boolean> {
    try {
      await mkdir(this.#options.folder, { recursive: true, mode: 0o700 });
    } catch (error) {
      this.#warn(describeError(error), writeAdvice(error));
      return false;
    }
    try {
      if (await this.#lock.hold()) return true;
      this.#warn('another exporter uses it', `give each exporter its own --storage.path, ${OFF}`);
      return false;
    } catch (error) {
      // Some file systems don't support sockets. Without a lock, two exporters would only replace
      // each other's whole files.
      if (!UNWRITABLE.has(errorCode(error))) return true;
      this.#warn(describeError(error), writeAdvice(error));
      return false;
    }
  }

  async #read(mayWrite: boolean): Promise<void> {
    const { log, clock } = this.#options;
    let read: ReadState;
    try {
      const { size } = await stat(this.#file);
      read = size > MAX_BYTES ? { problem: 'damaged' } : readStateText(await readFile(this.#file, 'utf8'));
    } catch (error) {
      // A missing folder was already reported.
      if (!['ENOENT', 'ENOTDIR'].includes(errorCode(error)))
        this.#warn(describeError(error), writeAdvice(error));
      return;
    }
    if ('problem' in read) {
      await this.#setAside(read.problem, mayWrite);
      return;
    }
    const { servers } = read;
    const latest = servers.reduce((most, { seenAt }) => Math.max(most, seenAt), 0);
    const age = clock.toUnixMs(clock.now()) - latest;
    for (const kept of servers) this.#kept.set(stateKey(kept), kept);
    const fields = { file: this.#file, servers: servers.length };
    if (age < -SET_BACK_MS) {
      log.warn(
        fields,
        `state in ${this.#file} is dated ${formatDuration(Math.round(-age / 1_000) * 1_000)} in the future: using it as current; check the system clock`,
      );
    } else {
      log.info(fields, `continuing with the state of ${quantity(servers.length, 'server')} in ${this.#file}`);
    }
  }

  /** Renames an unreadable file, so that it isn't overwritten. */
  async #setAside(problem: string, mayWrite: boolean): Promise<void> {
    const other = `${this.#file}.${problem === 'damaged' ? 'damaged' : 'later'}`;
    const isAside =
      mayWrite &&
      (await rename(this.#file, other).then(
        () => true,
        () => false,
      ));
    const { log } = this.#options;
    const advice =
      problem === 'damaged'
        ? 'check the disk if this happens again'
        : 'to use it, install the version of the exporter that wrote it, and rename it back';
    const where = isAside ? `, renamed to ${other}` : '';
    log.warn(
      { file: this.#file },
      `state file ${this.#file} is ${problem}: starting without it${where}; ${advice}`,
    );
  }

  #warn(reason: string, advice: string): void {
    if (reason === this.#problem) return;
    this.#problem = reason;
    const { log, folder } = this.#options;
    log.warn(
      { folder },
      `the servers' state can't be kept in ${folder}: ${reason}, so a restart loses it; ${advice}`,
    );
  }

  #works(): void {
    if (this.#problem === undefined) return;
    this.#problem = undefined;
    const { log, folder } = this.#options;
    log.info({ folder }, `the servers' state is kept in ${folder} again`);
  }
}

function stateKey(server: Pick<KeptServer, 'panel' | 'id'>): string {
  return JSON.stringify([server.panel, shortId(server)]);
}

function describeError(error: unknown): string {
  const code = errorCode(error);
  return REASONS[code] ?? code;
}

function writeAdvice(error: unknown): string {
  return ['ENOSPC', 'EDQUOT'].includes(errorCode(error)) ? ROOM : WRITABLE;
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  ENOTDIR: 'a part of the path is a file',
  EEXIST: 'a file has this name',
  EISDIR: 'the state file is a folder',
  EIO: 'the disk reports an error',
};

/** After any other error of the socket, the folder may still be writable. */
const UNWRITABLE = new Set(['EACCES', 'EROFS', 'ENOSPC', 'EDQUOT', 'ENOENT', 'ENOTDIR', 'EIO']);
