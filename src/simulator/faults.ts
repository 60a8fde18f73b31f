import type { DaemonWordsKind, GameState, PanelEndpoint, RestFault, SocketFault } from './schema.ts';

/** An active fault; its server, if it has one, is a UUID. */
interface Armed<Fault> {
  readonly fault: Fault;
  left: number;
}

/** Faults that affect socket traffic until they are cleared. */
const LASTING = [
  'silence',
  'frozen-stats',
  'late-stats',
  'lost-status',
  'lost-words',
  'early-words',
] as const;
type LastingKind = (typeof LASTING)[number];
type LastingFault<Kind extends LastingKind = LastingKind> = Extract<SocketFault, { kind: Kind }>;

/** The active faults; the first match applies, and expires after its number of times. */
export class Faults {
  #rest: Armed<RestFault>[] = [];
  #sockets: Armed<SocketFault>[] = [];
  /** Lasting faults by kind and affected server; undefined stands for all servers. */
  readonly #lasting = new Map<LastingKind, Map<string | undefined, LastingFault>>();

  addRest(fault: RestFault): void {
    this.#rest.push({ fault, left: fault.times ?? Number.POSITIVE_INFINITY });
  }

  addSocket(fault: SocketFault): void {
    if (isLasting(fault)) {
      this.#lasting.set(fault.kind, new Map(this.#lasting.get(fault.kind)).set(fault.server, fault));
    } else {
      this.#sockets.push({ fault, left: fault.times ?? Number.POSITIVE_INFINITY });
    }
  }

  clear(): void {
    this.#rest = [];
    this.#sockets = [];
    this.#lasting.clear();
  }

  /** The fault that applies to this call, if any. */
  takeRest(
    endpoint: PanelEndpoint | 'other',
    server: string | undefined,
    page?: number,
  ): RestFault | undefined {
    return take(
      this.#rest,
      (fault) =>
        (fault.endpoint === undefined || fault.endpoint === endpoint) &&
        (fault.server === undefined || fault.server === server) &&
        (fault.page === undefined || fault.page === page),
    );
  }

  /** The fault of one of these kinds that applies to a server's socket, if any. */
  takeSocket(server: string, kinds: readonly SocketFault['kind'][]): SocketFault | undefined {
    return take(
      this.#sockets,
      (fault) => kinds.includes(fault.kind) && (fault.server === undefined || fault.server === server),
    );
  }

  /** Whether this server's sockets get no stats. */
  isSilent(server: string): boolean {
    return this.#lastingFault('silence', server) !== undefined;
  }

  /** Whether this server's statistics are frozen. */
  isFrozen(server: string): boolean {
    return this.#lastingFault('frozen-stats', server) !== undefined;
  }

  /** Whether each of this server's statuses is followed by a `stats` frame with the previous state. */
  isLate(server: string): boolean {
    return this.#lastingFault('late-stats', server) !== undefined;
  }

  /** Whether the event for this state of the server is lost. */
  losesStatus(server: string, state: GameState): boolean {
    const fault = this.#lastingFault('lost-status', server);
    return fault !== undefined && (fault.states?.includes(state) ?? true);
  }

  /** Whether this message of the daemon about the server is lost. */
  losesWords(server: string, kind: DaemonWordsKind): boolean {
    const fault = this.#lastingFault('lost-words', server);
    return fault !== undefined && (fault.words?.includes(kind) ?? true);
  }

  /** Whether the daemon reports this server's crashes before the `offline` that they lead to. */
  areWordsEarly(server: string): boolean {
    return this.#lastingFault('early-words', server) !== undefined;
  }

  #lastingFault<Kind extends LastingKind>(kind: Kind, server: string): LastingFault<Kind> | undefined {
    const servers = this.#lasting.get(kind);
    return (servers?.get(server) ?? servers?.get(undefined)) as LastingFault<Kind> | undefined;
  }
}

function isLasting(fault: SocketFault): fault is LastingFault {
  return (LASTING as readonly string[]).includes(fault.kind);
}

function take<Fault>(armed: Armed<Fault>[], matches: (fault: Fault) => boolean): Fault | undefined {
  const index = armed.findIndex(({ fault }) => matches(fault));
  const hit = armed[index];
  if (hit === undefined) return undefined;
  hit.left -= 1;
  if (hit.left <= 0) armed.splice(index, 1);
  return hit.fault;
}
