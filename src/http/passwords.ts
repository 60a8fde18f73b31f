import { createHmac, randomBytes } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { BUILT } from '../build-info.ts';
import { KNOWN_SECRETS } from '../domain/known-secrets.ts';
import type { Comparison } from './bcrypt-worker.ts';
import { FairQueue, type QueueBounds } from './fair-queue.ts';
import type { RecentRefusals } from './recent-refusals.ts';

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

/** The result of a check; `busy` if too many were waiting, so that the password was not checked. */
type PasswordVerdict = 'right' | 'wrong' | 'busy';

/** A few seconds of work for one core, which is how long a client waits for a response. */
const BOUNDS: QueueBounds = { total: 64, perClient: 8 };

/** The number of cached results, for right and for wrong passwords each. */
const KEPT = 100;

interface PasswordsOptions {
  readonly refusals: RecentRefusals;
  /** Overrides the default bounds. */
  readonly bounds?: QueueBounds;
}

interface Job {
  readonly client: string;
  readonly key: string;
  readonly password: string;
  readonly hash: string;
  readonly isUser: boolean;
  readonly settle: (verdict: PasswordVerdict) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Checks passwords against bcrypt hashes, one at a time. Results are cached by a keyed digest, right and wrong ones separately,
 * so that wrong ones never evict right ones. An unknown user takes as long as a known one.
 */
export class Passwords {
  readonly #comparer: PasswordComparer;
  readonly #queue: FairQueue<Job>;
  readonly #refusals: RecentRefusals;
  /** Specific to this process, so that the cached digests can't be compared with anything else. */
  readonly #secret = randomBytes(32);
  readonly #right = new Recent(KEPT);
  readonly #wrong = new Recent(KEPT);
  readonly #pending = new Map<string, Promise<PasswordVerdict>>();
  #isComparing = false;
  #isStopped = false;

  constructor(comparer: PasswordComparer, { refusals, bounds = BOUNDS }: PasswordsOptions) {
    this.#comparer = comparer;
    this.#refusals = refusals;
    this.#queue = new FairQueue({ bounds, refusalsOf: (client) => refusals.of(client) });
  }

  /** Whether this password was recently found right. */
  remembers({ user, password }: BasicCredentials, users: ReadonlyMap<string, string>): boolean {
    const hash = users.get(user);
    return hash !== undefined && this.#right.has(this.#keyOf(user, hash, password));
  }

  /** `users` maps names to hashes. Clients take turns, least refused first. Rejects if bcrypt itself fails. */
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
      new Promise<PasswordVerdict>((settle, fail) => {
        this.#enqueue({ client, key, password, hash, isUser: known !== undefined, settle, fail });
      }).finally(() => this.#pending.delete(key));
    this.#pending.set(key, pending);
    return pending;
  }

  /** Ends the thread; checks that are still waiting are answered with `busy`. */
  stop(): Promise<void> {
    this.#isStopped = true;
    for (let job = this.#queue.next(); job !== undefined; job = this.#queue.next()) job.settle('busy');
    return this.#comparer.stop();
  }

  #enqueue(job: Job): void {
    const displaced = this.#isStopped ? job : this.#queue.offer(job.client, job);
    if (displaced !== undefined) this.#settle(displaced, 'busy');
    void this.#work();
  }

  #settle({ client, key, settle }: Job, verdict: PasswordVerdict): void {
    if (verdict === 'right') this.#refusals.forget(client);
    else this.#refusals.add(client);
    if (verdict !== 'busy') (verdict === 'right' ? this.#right : this.#wrong).add(key);
    settle(verdict);
  }

  async #work(): Promise<void> {
    if (this.#isComparing) return;
    this.#isComparing = true;
    for (let job = this.#queue.next(); job !== undefined; job = this.#queue.next()) await this.#compare(job);
    this.#isComparing = false;
  }

  async #compare(job: Job): Promise<void> {
    try {
      const same = await this.#comparer.compare(job.password, job.hash);
      // Only now is it known to be a secret; before, it could be anything that a client sent.
      if (same && job.isUser) KNOWN_SECRETS.add(job.password);
      this.#settle(job, same && job.isUser ? 'right' : 'wrong');
    } catch (error) {
      job.fail(error);
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

/** Runs bcrypt in its own thread, started by the first comparison: a comparison takes a tenth of a second or more. */
export class BcryptThread implements PasswordComparer {
  #worker: Worker | undefined;
  #waiting: PendingComparison | undefined;

  /** Rejects if the thread ends before it answers. */
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
