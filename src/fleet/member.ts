import type { Role } from '../session/poll-policy.ts';
import type { Session } from '../session/session.ts';
import type { ServerRecord } from './server-record.ts';
import type { TurnTaker } from './turns.ts';

/** What a member asks of its fleet. */
export interface MemberOwner {
  createSession(record: ServerRecord): Session;
  /** How long it takes until a server's turn comes round, in milliseconds. */
  cycleMs(): number;
}

/** One server of a fleet: its record and, from its first role on, its session. */
export class Member implements TurnTaker {
  readonly record: ServerRecord;
  readonly #owner: MemberOwner;
  #session: Session | undefined;

  constructor(record: ServerRecord, owner: MemberOwner) {
    this.record = record;
    this.#owner = owner;
  }

  assume(role: Role): void {
    this.#session ??= this.#owner.createSession(this.record);
    this.#session.assume(role);
  }

  beginTurn(onOver: () => void): void {
    this.assume({ type: 'turn', pollIntervalMs: this.#owner.cycleMs(), onOver });
  }

  waitForTurn(): void {
    this.#session ??= this.#owner.createSession(this.record);
    this.#session.waitForTurn(this.#owner.cycleMs());
  }

  /** The panel's health changed. */
  followHealth(isUp: boolean): void {
    this.#session?.refresh();
    if (isUp) this.#session?.wake();
  }

  /** Resolves when the socket is closed. */
  async stop(): Promise<void> {
    if (this.#session === undefined) this.record.setCollection({ condition: 'stopped' }, 'none');
    else await this.#session.stop();
  }

  /** Forgets what the session met so far: the next role begins anew. Resolves when its socket is closed. */
  async reset(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    await session?.stop();
  }
}
