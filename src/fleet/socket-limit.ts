/** Descriptors of Node.js and the program's files, pipes and listeners: some 21 are in use before the first connection. */
const OWN_DESCRIPTORS = 24;

/** Connections of scrapers and browsers: a share of all descriptors, within a minimum and a maximum. */
const CONNECTION_SHARE = 1 / 8;
const MIN_CONNECTIONS = 48;
const MAX_CONNECTIONS = 256;

/** Calls to the first panel and to each further one: panels rarely all make calls at once. */
const CALLS = 8;
const CALLS_PER_FURTHER_PANEL = 2;

/** Console sockets that are replaced are still closing while the next ones open; name lookups use descriptors too. */
const OVERLAP = 8;

/** A console socket was opened although the process may hold no more of them; the code is the system's own for this error. */
export class SocketLimitError extends Error {
  readonly code = 'EMFILE';

  constructor(sockets: number) {
    super(`the limit on open files leaves room for only ${sockets} console sockets`);
  }
}

/** One panel's share of the console sockets that the process may hold. */
export interface SocketClaim {
  /** Claims a console socket for each of `servers` servers; returns how many the panel may hold. */
  claim(servers: number): number;
  /** The panel no longer needs sockets. */
  leave(): void;
}

interface Claimant {
  servers: number;
  share: number;
  readonly onChange: () => void;
}

/**
 * Divides the process's file descriptors: scrapes and API calls have reserved ones, and console sockets get the rest, which all
 * panels share in proportion to their servers.
 */
export class SocketLimit {
  /** How many files the process may open; infinite if unknown. */
  readonly descriptors: number;
  readonly #claimants = new Set<Claimant>();
  #open = 0;

  constructor(descriptors = Number.POSITIVE_INFINITY) {
    this.descriptors = descriptors;
  }

  /** Connections that the exporter's own HTTP server may hold. */
  get connections(): number {
    const share = Math.floor(this.descriptors * CONNECTION_SHARE);
    return Math.min(Math.max(share, MIN_CONNECTIONS), MAX_CONNECTIONS);
  }

  /** Console sockets that the process may hold, across all panels. */
  get sockets(): number {
    return Math.max(0, this.descriptors - this.#reserve(this.connections));
  }

  /** The limit on open files that would give a console socket to every server that may stream. */
  get requiredDescriptors(): number {
    return this.#servers + this.#reserve(MAX_CONNECTIONS);
  }

  /** Adds a panel; `onChange` is called when its share changes because of other panels. */
  join(onChange: () => void): SocketClaim {
    const claimant: Claimant = { servers: 0, share: Number.POSITIVE_INFINITY, onChange };
    return {
      claim: (servers) => {
        if (!this.#claimants.has(claimant) || claimant.servers !== servers) {
          this.#claimants.add(claimant);
          claimant.servers = servers;
          this.#divide(claimant);
        }
        return claimant.share;
      },
      leave: () => {
        if (this.#claimants.delete(claimant)) this.#divide(claimant);
      },
    };
  }

  /**
   * Takes the slot of one console socket; the returned function frees it.
   *
   * @throws SocketLimitError if no slot is free
   */
  take(): () => void {
    if (this.#open >= this.sockets + OVERLAP) throw new SocketLimitError(this.sockets);
    this.#open += 1;
    let isTaken = true;
    return () => {
      if (isTaken) this.#open -= 1;
      isTaken = false;
    };
  }

  get #servers(): number {
    return [...this.#claimants].reduce((sum, { servers }) => sum + servers, 0);
  }

  #reserve(connections: number): number {
    const furtherPanels = Math.max(0, this.#claimants.size - 1);
    return OWN_DESCRIPTORS + connections + CALLS + CALLS_PER_FURTHER_PANEL * furtherPanels + OVERLAP;
  }

  #divide(cause: Claimant): void {
    const [sockets, servers] = [this.sockets, this.#servers];
    const isEnough = servers <= sockets;
    const changed: Claimant[] = [];
    for (const claimant of this.#claimants) {
      const share = isEnough
        ? Number.POSITIVE_INFINITY
        : Math.floor((sockets * claimant.servers) / Math.max(1, servers));
      if (share !== claimant.share && claimant !== cause) changed.push(claimant);
      claimant.share = share;
    }
    for (const { onChange } of changed) onChange();
  }
}

/** The slots for console sockets of one panel's servers: the first to request one gets it, and others wait. */
export class SocketSlots<Holder> {
  readonly #claim: SocketClaim;
  readonly #given: (holder: Holder) => void;
  readonly #held = new Set<Holder>();
  /** In the order in which they asked. */
  readonly #waiting = new Set<Holder>();
  #allowed = Number.POSITIVE_INFINITY;

  /** `given` is called for a holder that waits when there is a slot for it, or that has to take its slot again. */
  constructor(limit: SocketLimit, required: () => number, given: (holder: Holder) => void) {
    this.#claim = limit.join(() => this.require(required()));
    this.#given = given;
  }

  /** How many sockets the panel may hold. */
  get allowed(): number {
    return this.#allowed;
  }

  /** Claims a slot for each of this many servers. */
  require(servers: number): void {
    this.#allowed = this.#claim.claim(servers);
    const lost = [...this.#held].slice(this.#allowed);
    for (const holder of lost) this.#held.delete(holder);
    for (const holder of lost) this.#given(holder);
    this.#giveFree();
  }

  /** Takes a slot, or keeps the one it has; without one, the holder waits. */
  take(holder: Holder): boolean {
    if (this.#held.has(holder)) return true;
    if (this.#held.size >= this.#allowed) {
      this.#waiting.add(holder);
      return false;
    }
    this.#waiting.delete(holder);
    this.#held.add(holder);
    return true;
  }

  /** Gives the slot back. */
  leave(holder: Holder): void {
    if (this.#held.delete(holder)) this.#giveFree();
  }

  /** The holder needs no slot any more. */
  forget(holder: Holder): void {
    this.#waiting.delete(holder);
    this.leave(holder);
  }

  /** The panel needs no sockets any more. */
  close(): void {
    this.#claim.leave();
  }

  #giveFree(): void {
    const free = this.#allowed - this.#held.size;
    for (const holder of [...this.#waiting].slice(0, Math.max(0, free))) {
      this.#waiting.delete(holder);
      this.#given(holder);
    }
  }
}
