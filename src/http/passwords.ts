import { createHmac, randomBytes } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { BUILT } from '../build-info.ts';
import { KNOWN_SECRETS } from '../domain/known-secrets.ts';
import type { Comparison } from './bcrypt-worker.ts';
import type { ClientBuckets } from './request-rates.ts';
import type { RequestRateLimit } from './web-settings.ts';

/** The user name and password of a request. */
interface BasicCredentials {
  readonly user: string;
  readonly password: string;
}

const BASIC = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i;

/**
 * The credentials in an Authorization header with the scheme Basic (RFC 7617); undefined for any other scheme or an invalid
 * header.
 */
export function basicCredentials(header: string | undefined): BasicCredentials | undefined {
  const [, encoded] = BASIC.exec(header ?? '') ?? [];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 ? undefined : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}

/**
 * The result of a check. If the password was not checked: `limited` because the client has used up its checks, or `busy` because
 * too many clients are waiting.
 */
type PasswordVerdict = 'right' | 'wrong' | 'limited' | 'busy';

/** The checks of a client, which a right password gives back: enough for typing errors, too few for guessing. */
export const CHECK_LIMIT: RequestRateLimit = { burst: 8, intervalMs: 30_000 };

/** A few seconds of work for one core, which is how long a client waits for a response. */
const MAX_WAITING = 64;

/** The number of cached results, for right and for wrong passwords each. */
const KEPT = 100;

/**
 * Checks passwords against bcrypt hashes, one at a time; clients that have spent the fewest checks come first. Results are cached
 * by a keyed digest, right and wrong ones separately, so that wrong ones never evict right ones. An unknown user takes as long as
 * a known one.
 */
export class Passwords {
  readonly #comparer: PasswordComparer;
  readonly #checks: ClientBuckets;
  readonly #turns = new Turns(MAX_WAITING);
  /** Specific to this process, so that the cached digests can't be compared with anything else. */
  readonly #secret = randomBytes(32);
  readonly #right = new Recent(KEPT);
  readonly #wrong = new Recent(KEPT);
  readonly #pending = new Map<string, Promise<PasswordVerdict>>();

  constructor(comparer: PasswordComparer, checks: ClientBuckets) {
    this.#comparer = comparer;
    this.#checks = checks;
  }

  /** Whether this password was recently found right. */
  remembers({ user, password }: BasicCredentials, users: ReadonlyMap<string, string>): boolean {
    const hash = users.get(user);
    return hash !== undefined && this.#right.has(this.#keyOf(user, hash, password));
  }

  /** `users` maps names to hashes. Rejects if bcrypt itself fails. */
  check(
    { user, password }: BasicCredentials,
    users: ReadonlyMap<string, string>,
    client: string,
  ): Promise<PasswordVerdict> {
    const known = users.get(user);
    const hash = known ?? this.#hashOfNobody(user, [...users.values()]);
    const key = this.#keyOf(user, hash, password);
    if (this.#right.has(key)) return Promise.resolve('right');
    if (this.#wrong.has(key)) return Promise.resolve('wrong');
    const pending =
      this.#pending.get(key) ??
      this.#compare({ client, key, password, hash, isUser: known !== undefined }).finally(() =>
        this.#pending.delete(key),
      );
    this.#pending.set(key, pending);
    return pending;
  }

  /** Ends the thread; checks that are still waiting end with `busy`. */
  stop(): Promise<void> {
    this.#turns.stop();
    return this.#comparer.stop();
  }

  async #compare({ client, key, password, hash, isUser }: Check): Promise<PasswordVerdict> {
    const spent = this.#checks.spent(client);
    if (!this.#checks.take(client)) return 'limited';
    if (!(await this.#turns.take(spent))) return 'busy';
    try {
      const isRight = (await this.#comparer.compare(password, hash)) && isUser;
      (isRight ? this.#right : this.#wrong).add(key);
      if (!isRight) return 'wrong';
      // Only now is it known to be a secret; before, it could be anything that a client sent.
      KNOWN_SECRETS.add(password);
      this.#checks.refill(client);
      return 'right';
    } finally {
      this.#turns.pass();
    }
  }

  /**
   * A hash that matches no password. Its cost is one that is in use, and always the same for a name, as a real user's would
   * be.
   */
  #hashOfNobody(user: string, hashes: readonly string[]): string {
    const choice = this.#digest(['nobody', user]).readUInt32BE() % Math.max(1, hashes.length);
    return `${hashes[choice]?.slice(0, 29) ?? ''}${'.'.repeat(31)}`;
  }

  #keyOf(user: string, hash: string, password: string): string {
    return this.#digest([user, hash, password]).toString('base64');
  }

  #digest(parts: readonly string[]): Buffer {
    return createHmac('sha256', this.#secret).update(JSON.stringify(parts)).digest();
  }
}

interface Check {
  readonly client: string;
  readonly key: string;
  readonly password: string;
  readonly hash: string;
  readonly isUser: boolean;
}

interface Waiting {
  readonly rank: number;
  readonly start: (mayStart: boolean) => void;
}

/** Lets one start at a time: of those that wait the one with the lowest rank, and of equals the first. */
class Turns {
  readonly #maxWaiting: number;
  readonly #waiting: Waiting[] = [];
  #isTaken = false;
  #isStopped = false;

  constructor(maxWaiting: number) {
    this.#maxWaiting = maxWaiting;
  }

  /** Resolves with true when it is its turn, and with false if those before it are too many. */
  take(rank: number): Promise<boolean> {
    if (this.#isStopped) return Promise.resolve(false);
    if (!this.#isTaken) {
      this.#isTaken = true;
      return Promise.resolve(true);
    }
    return new Promise((start) => {
      const after = this.#waiting.findIndex((other) => other.rank > rank);
      this.#waiting.splice(after < 0 ? this.#waiting.length : after, 0, { rank, start });
      if (this.#waiting.length > this.#maxWaiting) this.#waiting.pop()?.start(false);
    });
  }

  /** Ends a turn. */
  pass(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#isTaken = false;
    else next.start(true);
  }

  stop(): void {
    this.#isStopped = true;
    for (const { start } of this.#waiting.splice(0)) start(false);
  }
}

/** The most recently added or used keys. */
class Recent {
  readonly #limit: number;
  readonly #keys = new Set<string>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  has(key: string): boolean {
    const known = this.#keys.delete(key);
    if (known) this.#keys.add(key);
    return known;
  }

  add(key: string): void {
    this.#keys.add(key);
    const [oldest] = this.#keys;
    if (this.#keys.size > this.#limit && oldest !== undefined) this.#keys.delete(oldest);
  }
}

/** Compares passwords with hashes, one at a time. */
export interface PasswordComparer {
  compare(password: string, hash: string): Promise<boolean>;
  stop(): Promise<void>;
}

interface PendingComparison {
  readonly resolve: (same: boolean) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Runs bcrypt in its own thread, started by the first comparison: a comparison takes a tenth of a second or more, and the asynchronous
 * functions of bcryptjs block the event loop for a tenth of a second at a time.
 */
export class BcryptThread implements PasswordComparer {
  #worker: Worker | undefined;
  #waiting: PendingComparison | undefined;

  /** Rejects if the thread ends before it responds. */
  compare(password: string, hash: string): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#worker ??= this.#start();
      const comparison: Comparison = { password, hash };
      this.#worker.postMessage(comparison, []);
    });
  }

  async stop(): Promise<void> {
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(new URL('bcrypt-worker.js', BUILT), { execArgv: [], env: {} });
    worker.unref();
    worker.on('message', (same: boolean) => this.#waiting?.resolve(same));
    worker.on('error', (cause) => this.#lost(worker, new Error('bcrypt failed', { cause })));
    worker.on('exit', () => this.#lost(worker, new Error('the bcrypt thread ended unexpectedly')));
    return worker;
  }

  /** The next comparison starts a new thread; later messages of the old one are ignored. */
  #lost(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    this.#waiting?.reject(error);
  }
}
