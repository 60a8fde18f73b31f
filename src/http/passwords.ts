// Checks clients' passwords without blocking the event loop.
import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { DIST_URL } from '../build-info.ts';
import type { Clock } from '../domain/clock.ts';
import { KNOWN_SECRETS } from '../text/redaction.ts';
import type { Comparison } from './bcrypt-worker.ts';

/** The result of a check; `limited` means that the password was not checked. */
type PasswordVerdict = 'right' | 'wrong' | 'limited';

/**
 * The maximum number of wrong passwords per client and window: enough for typing errors, too few
 * for guessing.
 */
const MAX_WRONG = 8;
export const WRONG_WINDOW_MS = 60_000;

/** The maximum number of clients with counted wrong passwords, which take about 100 bytes each. */
const MAX_CLIENTS = 10_000;

/** The maximum number of waiting checks: a few seconds of work for one core. */
const MAX_WAITING = 64;

/** The maximum number of cached results for passwords that aren't known to be right. */
const MAX_CACHED = 100;

/**
 * Checks passwords against bcrypt hashes, one at a time. Results are cached by a keyed digest;
 * right passwords have their own cache, so that wrong ones never evict them. An unknown user takes
 * as long as a known one.
 */
export class Passwords {
  readonly #clock: Clock;
  readonly #compare: BcryptThread['compare'];
  /** A key that only this process has, so that the cached digests can't be compared with others. */
  readonly #secret = randomBytes(32);
  /** The digest of each user's right password. */
  readonly #right = new Map<string, string>();
  /** Results by digest, oldest first, including those of running checks. */
  readonly #cached = new Map<string, Promise<boolean>>();
  /** The number of wrong passwords of each client since the window began. */
  readonly #wrong = new Map<string, number>();
  #windowEndsAt = 0;
  #lastTurn: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(clock: Clock, compare: BcryptThread['compare']) {
    this.#clock = clock;
    this.#compare = compare;
  }

  /** `users` maps names to hashes. Rejects if bcrypt itself fails. */
  async check(
    { username, password }: { readonly username: string; readonly password: string },
    users: ReadonlyMap<string, string>,
    client: string,
  ): Promise<PasswordVerdict> {
    const known = users.get(username);
    const hash = known ?? this.#hashOfNobody(username, [...users.values()]);
    const key = this.#digest([username, hash, password]).toString('base64');
    if (this.#right.get(username) === key) {
      KNOWN_SECRETS.used(password);
      return 'right';
    }
    const cached = this.#cached.get(key);
    if (cached === undefined && !this.#takeCheck(client)) return 'limited';
    const isSame = await (cached ?? this.#checkInTurn(key, { password, hash }));
    if (!isSame || known === undefined) return 'wrong';
    if (cached === undefined) this.#wrong.set(client, Math.max(0, (this.#wrong.get(client) ?? 0) - 1));
    this.#right.set(username, key);
    // A right password is known to be a secret, whereas a wrong one may be any text. It stays
    // registered, because nothing reports when a password changes.
    KNOWN_SECRETS.add(password);
    KNOWN_SECRETS.replace([password], []);
    return 'right';
  }

  /**
   * Whether the client may have a password checked. Counted before the check, so that simultaneous
   * guesses count, too.
   */
  #takeCheck(client: string): boolean {
    const now = this.#clock.now();
    if (now >= this.#windowEndsAt || this.#wrong.size >= MAX_CLIENTS) {
      this.#wrong.clear();
      this.#windowEndsAt = now + WRONG_WINDOW_MS;
    }
    const wrong = this.#wrong.get(client) ?? 0;
    if (wrong >= MAX_WRONG || this.#waiting >= MAX_WAITING) return false;
    this.#wrong.set(client, wrong + 1);
    return true;
  }

  /** Compares once all earlier comparisons have ended. */
  #checkInTurn(key: string, comparison: Comparison): Promise<boolean> {
    this.#waiting += 1;
    const result = this.#lastTurn
      .then(() => this.#compare(comparison))
      .finally(() => {
        this.#waiting -= 1;
      });
    this.#lastTurn = result.catch(() => this.#cached.delete(key));
    this.#cached.set(key, result);
    const [oldest = ''] = this.#cached.keys();
    if (this.#cached.size > MAX_CACHED) this.#cached.delete(oldest);
    return result;
  }

  /**
   * A hash that no password matches, so that unknown names take as long as known ones. Its cost is
   * that of an existing hash, always the same one for a name.
   */
  #hashOfNobody(username: string, hashes: readonly string[]): string {
    const choice = this.#digest(['nobody', username]).readUInt32BE() % hashes.length;
    return `${hashes[choice]?.slice(0, 29)}${'.'.repeat(31)}`;
  }

  #digest(parts: readonly string[]): Buffer {
    return createHmac('sha256', this.#secret).update(JSON.stringify(parts)).digest();
  }
}

/**
 * Runs bcrypt in a thread, one comparison at a time: a comparison takes 0.1 s or more, and the
 * asynchronous functions of bcryptjs block the event loop for 0.1 s at a time.
 */
export class BcryptThread {
  #worker: Worker | undefined;

  /** Rejects if the thread fails. The next comparison starts a new thread. */
  async compare(comparison: Comparison): Promise<boolean> {
    this.#worker ??= new Worker(new URL('bcrypt-worker.js', DIST_URL), { execArgv: [], env: {} });
    this.#worker.unref();
    this.#worker.postMessage(comparison, []);
    try {
      const [same] = (await once(this.#worker, 'message')) as [boolean];
      return same;
    } catch (error) {
      this.#worker = undefined;
      throw error;
    }
  }

  async stop(): Promise<void> {
    await this.#worker?.terminate();
  }
}
