import type { Endpoint, RestFault, SocketFault } from './schema.ts';

/** A fault whose server, where it names one, is a uuid. */
interface Armed<Fault> {
  readonly fault: Fault;
  left: number;
}

/** The faults that are armed; the first that fits strikes, and is spent after its number of times. */
export class Faults {
  #rest: Armed<RestFault>[] = [];
  #sockets: Armed<SocketFault>[] = [];
  #silentServers = new Set<string>();
  #silentAll = false;

  addRest(fault: RestFault): void {
    this.#rest.push({ fault, left: fault.times ?? Number.POSITIVE_INFINITY });
  }

  addSocket(fault: SocketFault): void {
    if (fault.kind !== 'silence') {
      this.#sockets.push({ fault, left: fault.times ?? Number.POSITIVE_INFINITY });
    } else if (fault.server === undefined) {
      this.#silentAll = true;
    } else {
      this.#silentServers.add(fault.server);
    }
  }

  clear(): void {
    this.#rest = [];
    this.#sockets = [];
    this.#silentServers.clear();
    this.#silentAll = false;
  }

  /** The fault that strikes this call, if any. */
  strikeRest(endpoint: Endpoint | 'other', server: string | undefined, page?: number): RestFault | undefined {
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
    return this.#silentAll || this.#silentServers.has(server);
  }
}

function strike<Fault>(armed: Armed<Fault>[], fits: (fault: Fault) => boolean): Fault | undefined {
  const index = armed.findIndex(({ fault }) => fits(fault));
  const hit = armed[index];
  if (hit === undefined) return undefined;
  hit.left -= 1;
  if (hit.left <= 0) armed.splice(index, 1);
  return hit.fault;
}
