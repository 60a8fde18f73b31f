import { createHmac, randomBytes } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { BUILT } from '../build-info.ts';
import { KNOWN_SECRETS } from '../domain/known-secrets.ts';
import type { Comparison } from './bcrypt-worker.ts';
import { FairQueue, type QueueBounds } from './fair-queue.ts';
import type { RecentRefusals } from './recent-refusals.ts';

/** A user's name and password as a request brings them. */
interface BasicCredentials {
  readonly user: string;
  readonly password: string;
}

const BASIC = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i;

/** What an Authorization header of the scheme Basic holds (RFC 7617); undefined for any other and for a broken one. */
export function basicCredentials(header: string | undefined): BasicCredentials | undefined {
  const [, encoded] = BASIC.exec(header ?? '') ?? [];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 ? undefined : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** What became of a password; `busy` where so many wait that it was not looked at. */
type PasswordVerdict = 'right' | 'wrong' | 'busy';

/** Some seconds of work for one core, which is what a client waits for an answer. */
const BOUNDS: QueueBounds = { total: 64, perClient: 8 };

/** Results that are kept, of right and of wrong passwords each. */
const KEPT = 100;

interface PasswordsOptions {
  readonly refusals: RecentRefusals;
  /** Other bounds than the usual ones. */
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
 * Checks passwords against bcrypt hashes, one at a time. What was checked is remembered by a keyed digest, right and wrong apart, so
 * that wrong ones never push out right ones. An unknown user takes as long as a known one.
 */
export class Passwords {
  readonly #comparer: PasswordComparer;
  readonly #queue: FairQueue<Job>;
  readonly #refusals: RecentRefusals;
  /** Of this process alone, so that what is remembered can't be compared with anything. */
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

  /** Was this password found right lately? */
  remembers({ user, password }: BasicCredentials, users: ReadonlyMap<string, string>): boolean {
    const hash = users.get(user);
    return hash !== undefined && this.#right.has(this.#keyOf(user, hash, password));
  }

  /**
   * `users` are the hashes by name. Clients take turns, those first that were refused least. Rejects if bcrypt itself fails.
   */
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

  /** Ends the thread; what still waits is told that it was not looked at. */
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
      // Only now is it known to be one: before, it is what anybody sent.
      if (same && job.isUser) KNOWN_SECRETS.add(job.password);
      this.#settle(job, same && job.isUser ? 'right' : 'wrong');
    } catch (error) {
      job.fail(error);
    }
  }

  /** A hash that fits no password. Its cost is one that is in use, always the same for a name, as a user's own would be. */
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

/** The last keys that were added or asked for. */
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

/** Compares a password with a hash, one pair at a time. */
export interface PasswordComparer {
  compare(password: string, hash: string): Promise<boolean>;
  stop(): Promise<void>;
}

interface PendingComparison {
  readonly resolve: (same: boolean) => void;
  readonly reject: (error: Error) => void;
}

/** bcrypt in a thread of its own, which is started by the first comparison: one takes a tenth of a second and more. */
export class BcryptThread implements PasswordComparer {
  #worker: Worker | undefined;
  #waiting: PendingComparison | undefined;

  /** Rejects where the thread ends before its answer. */
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
    worker.on('exit', () => this.#lost(worker, new Error('the thread that compares passwords ended')));
    return worker;
  }

  /** The next comparison starts a new thread; what an old one still says is not about it. */
  #lost(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    this.#waiting?.reject(error);
  }
}
