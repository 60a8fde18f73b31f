// Keeps the faults that were injected into a simulation and decides which call or socket gets one.

import type { PanelEndpoint, RestFault, SocketFault } from './schema.ts';

/** An active fault; its server, if it has one, is a UUID. */
interface Armed<Fault> {
  readonly fault: Fault;
  left: number;
}

/** Faults that affect socket traffic until they are cleared. */
const LASTING: ReadonlySet<SocketFault['kind']> = new Set(['silence', 'frozen-stats', 'late-stats']);

/** The active faults; the first match applies, and expires after its number of times. */
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
    return this.#isLasting('silence', server);
  }

  /** Whether this server's statistics are frozen. */
  isFrozen(server: string): boolean {
    return this.#isLasting('frozen-stats', server);
  }

  /** Whether each of this server's statuses is followed by a `stats` frame with the previous state. */
  isLate(server: string): boolean {
    return this.#isLasting('late-stats', server);
  }

  #isLasting(kind: SocketFault['kind'], uuid: string): boolean {
    return this.#lasting.some((fault) => fault.kind === kind && (fault.server ?? uuid) === uuid);
  }
}

function take<Fault>(armed: Armed<Fault>[], matches: (fault: Fault) => boolean): Fault | undefined {
  const index = armed.findIndex(({ fault }) => matches(fault));
  const hit = armed[index];
  if (hit === undefined) return undefined;
  hit.left -= 1;
  if (hit.left <= 0) armed.splice(index, 1);
  return hit.fault;
}
