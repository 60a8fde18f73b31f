// Opens a panel's console sockets in turn, of one daemon's only as many at once as it accepts.

import type { Cancel } from '../domain/time.ts';
import type { InTurn } from './connect-pacer.ts';

/** The exporter's share of what the daemon allows: browsers at the same address need the rest. */
const SHARE = 0.75;

/** The sockets of one daemon. */
interface Daemon {
  readonly waiting: Set<Entry>;
  /** Sockets that have begun to open and whose tokens haven't been accepted yet. */
  taken: number;
}

interface Entry {
  readonly begin: () => void;
  state: 'waiting' | 'begun' | 'over';
  /** Leaves the panel's line, which the socket enters once the daemon has room. */
  leaveLine?: Cancel;
}

/** The console sockets of a panel that have no accepted token yet, by daemon. */
export class HandshakeRoom {
  readonly #allowed: () => number | undefined;
  readonly #inTurn: InTurn;
  readonly #daemons = new Map<string, Daemon>();

  /**
   * `allowed` is how many such sockets a daemon accepts from one address; undefined for any number.
   */
  constructor(allowed: () => number | undefined, inTurn: InTurn) {
    this.#allowed = allowed;
    this.#inTurn = inTurn;
  }

  /**
   * Calls `begin` in the panel's turn, once the daemon at this address has room for a socket. The
   * result frees the place: when the token was accepted, or no socket is needed.
   */
  enter(url: string, begin: () => void): Cancel {
    const { host } = new URL(url);
    const daemon = this.#daemons.get(host) ?? { waiting: new Set(), taken: 0 };
    this.#daemons.set(host, daemon);
    const entry: Entry = { begin, state: 'waiting' };
    daemon.waiting.add(entry);
    this.#fill(host, daemon);
    return () => {
      if (entry.state === 'over') return;
      if (entry.state === 'begun') daemon.taken -= 1;
      else daemon.waiting.delete(entry);
      entry.state = 'over';
      entry.leaveLine?.();
      this.#fill(host, daemon);
    };
  }

  #fill(host: string, daemon: Daemon): void {
    const allowed = this.#allowed();
    const most = allowed === undefined ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor(allowed * SHARE));
    for (const entry of daemon.waiting) {
      if (daemon.taken >= most) return;
      daemon.waiting.delete(entry);
      daemon.taken += 1;
      entry.state = 'begun';
      entry.leaveLine = this.#inTurn(entry.begin);
    }
    const isEmpty = daemon.taken === 0 && daemon.waiting.size === 0;
    if (isEmpty && this.#daemons.get(host) === daemon) this.#daemons.delete(host);
  }
}
