import type { PanelEndpoint, RestFault, SocketFault } from './schema.ts';

/** A fault whose server, where it names one, is a uuid. */
interface Armed<Fault> {
  readonly fault: Fault;
  left: number;
}

/** Faults that change what sockets carry until they are cleared. */
const LASTING = ['silence', 'frozen-stats', 'late-stats'] as const;
type LastingKind = (typeof LASTING)[number];

/** The faults that are armed; the first that fits strikes, and is spent after its number of times. */
export class Faults {
  #rest: Armed<RestFault>[] = [];
  #sockets: Armed<SocketFault>[] = [];
  /** Servers by the lasting fault that befalls them; undefined stands for all servers. */
  readonly #lasting = new Map<LastingKind, Set<string | undefined>>();

  addRest(fault: RestFault): void {
    this.#rest.push({ fault, left: fault.times ?? Number.POSITIVE_INFINITY });
  }

  addSocket(fault: SocketFault): void {
    if (isLasting(fault)) {
      this.#lasting.set(fault.kind, new Set(this.#lasting.get(fault.kind)).add(fault.server));
    } else {
      this.#sockets.push({ fault, left: fault.times ?? Number.POSITIVE_INFINITY });
    }
  }

  clear(): void {
    this.#rest = [];
    this.#sockets = [];
    this.#lasting.clear();
  }

  /** The fault that strikes this call, if any. */
  strikeRest(
    endpoint: PanelEndpoint | 'other',
    server: string | undefined,
    page?: number,
  ): RestFault | undefined {
    return strike(
      this.#rest,
      (fault) =>
        (fault.endpoint === undefined || fault.endpoint === endpoint) &&
        (fault.server === undefined || fault.server === server) &&
        (fault.page === undefined || fault.page === page),
    );
  }

  /** The fault of one of these kinds that strikes a server's socket, if any. */
  strikeSocket(server: string, kinds: readonly SocketFault['kind'][]): SocketFault | undefined {
    return strike(
      this.#sockets,
      (fault) => kinds.includes(fault.kind) && (fault.server === undefined || fault.server === server),
    );
  }

  /** Do this server's sockets get no stats? */
  isSilent(server: string): boolean {
    return this.#lasts('silence', server);
  }

  /** Do this server's statistics stand still? */
  isFrozen(server: string): boolean {
    return this.#lasts('frozen-stats', server);
  }

  /** Does a `stats` frame with the state before follow each of this server's statuses? */
  isLate(server: string): boolean {
    return this.#lasts('late-stats', server);
  }

  #lasts(kind: LastingKind, server: string): boolean {
    const servers = this.#lasting.get(kind);
    return servers !== undefined && (servers.has(undefined) || servers.has(server));
  }
}

function isLasting(fault: SocketFault): fault is Extract<SocketFault, { kind: LastingKind }> {
  return (LASTING as readonly string[]).includes(fault.kind);
}

function strike<Fault>(armed: Armed<Fault>[], fits: (fault: Fault) => boolean): Fault | undefined {
  const index = armed.findIndex(({ fault }) => fits(fault));
  const hit = armed[index];
  if (hit === undefined) return undefined;
  hit.left -= 1;
  if (hit.left <= 0) armed.splice(index, 1);
  return hit.fault;
}
