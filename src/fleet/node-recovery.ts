import type { Clock } from '../domain/clock.ts';
import type { SampleSource } from '../domain/server.ts';
import type { PanelGateway } from '../panel/gateway.ts';
import type { Member } from './roster.ts';

/** The shortest gap between retries of all servers of a node because one of them recovered. */
const INTERVAL_MS = 5 * 60_000;

interface NodeRecoveryContext {
  readonly clock: Pick<Clock, 'now'>;
  readonly gateway: Pick<PanelGateway, 'clearSuspicion'>;
}

/** Retries the other servers of a node when one of them recovers, instead of leaving each to its own back-off. */
export class NodeRecovery {
  readonly #context: NodeRecoveryContext;
  readonly #members: () => readonly Member[];
  /** When the servers of a node were last retried together, by sample source and node. */
  readonly #retriedAt = new Map<string, number>();

  constructor(context: NodeRecoveryContext, members: () => readonly Member[]) {
    this.#context = context;
    this.#members = members;
  }

  /** A server of a node sends samples again, in this way. */
  recovered(member: Member, way: SampleSource): void {
    const { node } = member.record;
    if (node === undefined) return;
    const { clock, gateway } = this.#context;
    const key = `${way} ${node}`;
    const retriedAt = this.#retriedAt.get(key) ?? Number.NEGATIVE_INFINITY;
    if (clock.now() - retriedAt < INTERVAL_MS) return;
    this.#retriedAt.set(key, clock.now());
    for (const other of this.#members()) {
      if (other === member || other.record.node !== node) continue;
      if (way === 'poll') gateway.clearSuspicion(other.record.target.id);
      other.followNode(way);
    }
  }
}
