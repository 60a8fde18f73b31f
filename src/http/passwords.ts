import { createHmac, randomBytes } from 'node:crypto';
import type { PasswordComparer } from './bcrypt-thread.ts';
import type { Credentials } from './credentials.ts';
import { FairQueue, type QueueBounds } from './fair-queue.ts';

/** What became of a password; `busy` where so many wait that it was not looked at. */
export type Verdict = 'right' | 'wrong' | 'busy';

/** Some seconds of work for one core, which is what a client waits for an answer. */
const BOUNDS: QueueBounds = { total: 64, perClient: 8 };

/** Results that are kept, of right and of wrong passwords each. */
const KEPT = 100;

interface Job {
  readonly key: string;
  readonly password: string;
  readonly hash: string;
  readonly isUser: boolean;
  readonly settle: (verdict: Verdict) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Checks passwords against bcrypt hashes, one at a time. What was checked is remembered by a keyed digest, right and wrong apart, so
 * that wrong ones never push out right ones. An unknown user takes as long as a known one.
 */
export class Passwords {
  readonly #comparer: PasswordComparer;
  readonly #queue: FairQueue<Job>;
  /** Of this process alone, so that what is remembered can't be compared with anything. */
  readonly #secret = randomBytes(32);
  readonly #right = new Recent(KEPT);
  readonly #wrong = new Recent(KEPT);
  readonly #pending = new Map<string, Promise<Verdict>>();
  #isComparing = false;
  #isStopped = false;

  constructor(comparer: PasswordComparer, bounds: QueueBounds = BOUNDS) {
    this.#comparer = comparer;
    this.#queue = new FairQueue(bounds);
  }

  /** `users` are the hashes by name; clients take turns. Rejects where bcrypt itself fails. */
  check(
    { user, password }: Credentials,
    users: ReadonlyMap<string, string>,
    client: string,
  ): Promise<Verdict> {
    const known = users.get(user);
    const hash = known ?? this.#hashOfNobody(user, [...users.values()]);
    const key = this.#digest([user, hash, password]).toString('base64');
    if (this.#right.has(key)) return Promise.resolve('right');
    if (this.#wrong.has(key)) return Promise.resolve('wrong');
    const pending =
      this.#pending.get(key) ??
      new Promise<Verdict>((settle, fail) => {
        this.#enqueue(client, { key, password, hash, isUser: known !== undefined, settle, fail });
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

  #enqueue(client: string, job: Job): void {
    const displaced = this.#isStopped ? job : this.#queue.offer(client, job);
    displaced?.settle('busy');
    void this.#work();
  }

  async #work(): Promise<void> {
    if (this.#isComparing) return;
    this.#isComparing = true;
    for (let job = this.#queue.next(); job !== undefined; job = this.#queue.next()) await this.#compare(job);
    this.#isComparing = false;
  }

  async #compare({ key, password, hash, isUser, settle, fail }: Job): Promise<void> {
    try {
      const same = await this.#comparer.compare(password, hash);
      const verdict = same && isUser ? 'right' : 'wrong';
      (verdict === 'right' ? this.#right : this.#wrong).add(key);
      settle(verdict);
    } catch (error) {
      fail(error);
    }
  }

  /** A hash that fits no password. Its cost is one that is in use, always the same for a name, as a user's own would be. */
  #hashOfNobody(user: string, hashes: readonly string[]): string {
    const choice = this.#digest(['nobody', user]).readUInt32BE() % Math.max(1, hashes.length);
    return `${hashes[choice]?.slice(0, 29) ?? ''}${'.'.repeat(31)}`;
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
