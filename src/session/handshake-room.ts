// Opens a panel's console sockets in turn, at most as many at once on each daemon as it accepts.

import type { Cancel } from '../domain/clock.ts';
import type { InTurn } from './connect-pacer.ts';
import { WaitingLine } from './waiting-line.ts';

/** The exporter's share of the daemon's limit. Browsers at the same address need the rest. */
const SHARE = 0.75;

/** The sockets of one daemon. */
interface Daemon {
  /** Sockets that wait for room on the daemon. */
  readonly waiting: WaitingLine<Entry>;
  /** Sockets that open at the daemon's next turns. */
  readonly ready: WaitingLine<Entry>;
  /** The number of open sockets without an accepted token. */
  taken: number;
}

interface Entry {
  readonly begin: () => void;
  state: 'waiting' | 'ready' | 'begun' | 'over';
}

/** The console sockets of a panel without an accepted token, by daemon. */
export class HandshakeRoom {
  readonly #allowed: () => number | undefined;
  readonly #inTurn: InTurn;
  readonly #daemons = new Map<string, Daemon>();
  /** Daemons with ready sockets, the next one first. */
  readonly #ready = new WaitingLine<Daemon>();

  /**
   * `allowed` returns how many such sockets a daemon accepts from one address; undefined if
   * unlimited.
   */
  constructor(allowed: () => number | undefined, inTurn: InTurn) {
    this.#allowed = allowed;
    this.#inTurn = inTurn;
  }

  /**
   * Calls `begin` in the panel's turn, once the daemon at this address has room for a socket. The
   * result frees the place, and must be called once the token was accepted, or if no socket is
   * needed.
   */
  enter(url: string, begin: () => void): Cancel {
    const { host } = new URL(url);
    const daemon = this.#daemons.get(host) ?? {
      waiting: new WaitingLine(),
      ready: new WaitingLine(),
      taken: 0,
    };
    this.#daemons.set(host, daemon);
    const entry: Entry = { begin, state: 'waiting' };
    daemon.waiting.add(entry);
    this.#fill(host, daemon);
    return () => this.#leave(entry, host, daemon);
  }

  #leave(entry: Entry, host: string, daemon: Daemon): void {
    if (entry.state === 'over') return;
    if (entry.state === 'waiting') daemon.waiting.leave(entry);
    else daemon.taken -= 1;
    if (entry.state === 'ready') daemon.ready.leave(entry);
    entry.state = 'over';
    this.#fill(host, daemon);
  }

  #fill(host: string, daemon: Daemon): void {
    const allowed = this.#allowed();
    const most = allowed === undefined ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor(allowed * SHARE));
    while (daemon.taken < most) {
      const entry = daemon.waiting.take();
      if (entry === undefined) break;
      daemon.taken += 1;
      entry.state = 'ready';
      daemon.ready.add(entry);
      this.#ready.add(daemon);
      this.#inTurn(this.#beginNext);
    }
    const isEmpty = daemon.taken === 0 && daemon.waiting.isEmpty;
    if (isEmpty && this.#daemons.get(host) === daemon) this.#daemons.delete(host);
  }

  /**
   * Opens the first socket of the next daemon. The daemons take turns, so that each daemon's first
   * response, such as a rejected token, is known before its other sockets open.
   */
  readonly #beginNext = (): void => {
    const next = this.#takeReady();
    if (next === undefined) return;
    next.state = 'begun';
    next.begin();
  };

  #takeReady(): Entry | undefined {
    for (let daemon = this.#ready.take(); daemon !== undefined; daemon = this.#ready.take()) {
      const entry = daemon.ready.take();
      if (!daemon.ready.isEmpty) this.#ready.add(daemon);
      if (entry !== undefined) return entry;
    }
    return undefined;
  }
}
