// Records the actions of clients for tests.

import type { PanelEndpoint } from './simulator-schema.ts';

/** One frame sent by a client. `args` are omitted for `auth`, because they are secret. */
export interface FrameRecord {
  readonly at: number;
  /** The server's UUID. */
  readonly server: string;
  readonly event: string;
  readonly args?: readonly unknown[];
  /** False if a limit dropped it. */
  readonly accepted: boolean;
}

/**
 * One REST call. `status` is 0 until there is a response, and stays 0 if the call hangs or is
 * dropped.
 */
export interface CallRecord {
  /** The arrival, in milliseconds of the simulator's clock. */
  readonly at: number;
  readonly endpoint: PanelEndpoint | 'other';
  /**
   * The server's UUID, or the requested id if there is no such server; absent for the server list.
   */
  readonly server?: string | undefined;
  /** The name of the server's node, or of the node whose servers are listed. */
  readonly node?: string | undefined;
  readonly method: string;
  readonly status: number;
}

/** Statistics of a server's sockets. */
export interface SocketRecord {
  readonly open: number;
  /** The maximum number of concurrently open sockets. */
  readonly maxOpen: number;
  /** The number of sockets ever opened. */
  readonly opened: number;
  readonly pings: number;
  /**
   * The code of the last close initiated by a client; 1005 without a code, 1006 without a frame.
   */
  readonly lastCloseCode: number | undefined;
}

/** Everything that was recorded, as plain data. */
export interface RecordSnapshot {
  readonly frames: readonly FrameRecord[];
  readonly calls: readonly CallRecord[];
  readonly sockets: Readonly<Record<string, SocketRecord>>;
  readonly counters: RecordCounters;
}

export interface RecordCounters {
  /** Responses with 429 due to the panel-wide limit. */
  readonly panelLimited: number;
  /** Upgrades rejected because too many sockets had no token. */
  readonly socketsLimited: number;
  /** Responses with 429 due to a server's limit on credentials. */
  readonly websocketLimited: number;
  /** Upgrades rejected because of a wrong `Origin`. */
  readonly wrongOrigin: number;
  readonly oversizeFrames: number;
  /** Bursts of frames that would have crashed real daemons. */
  readonly wouldHaveCrashed: number;
}

const NO_COUNTERS: RecordCounters = {
  panelLimited: 0,
  socketsLimited: 0,
  websocketLimited: 0,
  wrongOrigin: 0,
  oversizeFrames: 0,
  wouldHaveCrashed: 0,
};

const NO_SOCKETS: SocketRecord = { open: 0, maxOpen: 0, opened: 0, pings: 0, lastCloseCode: undefined };

/** Records client activity up to a number of frames and calls. The oldest are dropped first. */
export class Recorder {
  readonly #capacity: number;
  #frames: FrameRecord[] = [];
  #calls: { -readonly [Key in keyof CallRecord]: CallRecord[Key] }[] = [];
  #sockets = new Map<string, SocketRecord>();
  #counters = NO_COUNTERS;

  constructor(capacity = 50_000) {
    this.#capacity = capacity;
  }

  get frames(): readonly FrameRecord[] {
    return this.#frames.slice(-this.#capacity);
  }

  get calls(): readonly CallRecord[] {
    return this.#calls.slice(-this.#capacity);
  }

  get counters(): RecordCounters {
    return this.#counters;
  }

  /** By the server's UUID. */
  sockets(uuid: string): SocketRecord {
    return this.#sockets.get(uuid) ?? NO_SOCKETS;
  }

  /** The number of open sockets of all servers. */
  get openSockets(): number {
    return [...this.#sockets.values()].reduce((sum, { open }) => sum + open, 0);
  }

  snapshot(): RecordSnapshot {
    return {
      frames: this.frames,
      calls: this.calls,
      sockets: Object.fromEntries(this.#sockets),
      counters: this.#counters,
    };
  }

  /** Clears the record. Open sockets still count. */
  clear(): void {
    this.#frames = [];
    this.#calls = [];
    this.#counters = NO_COUNTERS;
    for (const [uuid, { open }] of this.#sockets) {
      this.#sockets.set(uuid, { ...NO_SOCKETS, open, maxOpen: open, opened: open });
    }
  }

  frame(frame: FrameRecord): void {
    push(this.#frames, frame, this.#capacity);
  }

  /** Records the arrival of a call. Returns a function that records the status of the response. */
  call(call: Omit<CallRecord, 'status'>): (status: number) => void {
    const entry = { ...call, status: 0 };
    push(this.#calls, entry, this.#capacity);
    return (status) => {
      entry.status = status;
    };
  }

  count(counter: keyof RecordCounters): void {
    this.#counters = { ...this.#counters, [counter]: this.#counters[counter] + 1 };
  }

  opened(uuid: string): void {
    const last = this.sockets(uuid);
    const open = last.open + 1;
    const maxOpen = Math.max(last.maxOpen, open);
    this.#sockets.set(uuid, { ...last, open, maxOpen, opened: last.opened + 1 });
  }

  /** `clientCode` is undefined if the simulator ended the socket. */
  closed(uuid: string, clientCode: number | undefined): void {
    const last = this.sockets(uuid);
    this.#sockets.set(uuid, {
      ...last,
      open: last.open - 1,
      lastCloseCode: clientCode ?? last.lastCloseCode,
    });
  }

  ping(uuid: string): void {
    const last = this.sockets(uuid);
    this.#sockets.set(uuid, { ...last, pings: last.pings + 1 });
  }
}

/**
 * Truncates the list at twice the capacity, so that a full record doesn't need a shift for each
 * entry.
 */
function push<Entry>(entries: Entry[], entry: Entry, capacity: number): void {
  entries.push(entry);
  if (entries.length >= 2 * capacity) entries.splice(0, entries.length - capacity);
}
