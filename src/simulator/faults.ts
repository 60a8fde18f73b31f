// The faults of a simulation, each for a call or a socket.

import type { CallTarget } from './api-gate.ts';
import { nodeName, type SimulatedServer } from './simulated-server.ts';
import type { RestFault, SocketFault } from './simulator-schema.ts';

/** An active fault. Its server, if it has one, is a UUID. */
interface Armed<Fault> {
  readonly fault: Fault;
  left: number;
}

/** Faults that affect socket traffic until they are cleared. */
const LASTING: ReadonlySet<SocketFault['kind']> = new Set(['silence', 'frozen-stats', 'late-stats']);

/** The active faults. The first match applies, and expires after its number of times. */
export class Faults {
  #rest: Armed<RestFault>[] = [];
  #sockets: Armed<SocketFault>[] = [];
  #lasting: SocketFault[] = [];

  addRest(fault: RestFault): void {
    this.#rest.push({ fault, left: fault.times ?? Number.POSITIVE_INFINITY });
  }

  addSocket(fault: SocketFault): void {
    if (LASTING.has(fault.kind)) {
      this.#lasting.push(fault);
    } else {
      const { times = Number.POSITIVE_INFINITY } = fault as { readonly times?: number };
      this.#sockets.push({ fault, left: times });
    }
  }

  clear(): void {
    this.#rest = [];
    this.#sockets = [];
    this.#lasting = [];
  }

  /** The fault that applies to this call, if any. */
  takeRest(call: CallTarget, page?: number): RestFault | undefined {
    return take(
      this.#rest,
      (fault) =>
        (fault.endpoint === undefined || fault.endpoint === call.endpoint) &&
        affects(fault, call) &&
        (fault.page === undefined || fault.page === page),
    );
  }

  /** The fault of one of these kinds that applies to a server's socket, if any. */
  takeSocket(server: FaultyServer, kinds: readonly SocketFault['kind'][]): SocketFault | undefined {
    const place = faultPlace(server);
    return take(this.#sockets, (fault) => kinds.includes(fault.kind) && affects(fault, place));
  }

  /** Whether this server's sockets get no stats. */
  isSilent(server: FaultyServer): boolean {
    return this.#isLasting('silence', server);
  }

  /** Whether this server's statistics are frozen. */
  isFrozen(server: FaultyServer): boolean {
    return this.#isLasting('frozen-stats', server);
  }

  /**
   * Whether each of this server's statuses is followed by a `stats` frame with the previous state.
   */
  isLate(server: FaultyServer): boolean {
    return this.#isLasting('late-stats', server);
  }

  #isLasting(kind: SocketFault['kind'], server: FaultyServer): boolean {
    if (this.#lasting.length === 0) return false;
    const place = faultPlace(server);
    return this.#lasting.some((fault) => fault.kind === kind && affects(fault, place));
  }
}

/** What a fault may be limited to. A node's list is a call for its node, and for no server. */
type FaultPlace = Pick<CallTarget, 'server' | 'node'>;

type FaultyServer = Pick<SimulatedServer, 'uuid' | 'node' | 'nodeName'>;

function faultPlace(server: FaultyServer): FaultPlace {
  return { server: server.uuid, node: nodeName(server) };
}

function affects(fault: FaultPlace, { server, node }: FaultPlace): boolean {
  return (
    (fault.server === undefined || fault.server === server) &&
    (fault.node === undefined || fault.node === node)
  );
}

function take<Fault>(armed: Armed<Fault>[], matches: (fault: Fault) => boolean): Fault | undefined {
  const index = armed.findIndex(({ fault }) => matches(fault));
  const hit = armed[index];
  if (hit === undefined) return undefined;
  hit.left -= 1;
  if (hit.left <= 0) armed.splice(index, 1);
  return hit.fault;
}
