// The surroundings of a panel's sessions.

import { type Clock, NEVER } from '../domain/clock.ts';
import type { CauseCode } from '../domain/problems.ts';
import type { PanelGateway } from '../panel/gateway.ts';
import { pathSubject, pollsSubject, type Subject, socketsSubject, subjectNode } from '../panel/subjects.ts';
import type { SessionRecord } from '../session/session-ports.ts';

const NO_CAUSES: ReadonlyMap<CauseCode, number> = new Map();

/** The surroundings of a panel's sessions: outages that hold them, and the times of changes. */
export class PanelSurroundings {
  readonly #clock: Clock;
  readonly #gateway: PanelGateway;
  /** When each subject was last blamed or cleared. */
  readonly #judged = new Map<Subject, number>();
  /**
   * For each cause, and each cause of a node, when a server that had failed for it last worked
   * again.
   */
  readonly #recovered = new Map<CauseCode, number>();
  readonly #recoveredOnNode = new Map<string, Map<CauseCode, number>>();
  /** When the server list was last read completely. */
  listedAt = NEVER;
  /** When the API key or the connection to the panel last changed. */
  accessedAnewAt = NEVER;

  constructor({ clock, gateway }: { readonly clock: Clock; readonly gateway: PanelGateway }) {
    this.#clock = clock;
    this.#gateway = gateway;
    gateway.events.on('changed', (change) => {
      if (change.of === 'subject') this.#judged.set(change.subject, clock.now());
      if (change.of !== 'recovery') return;
      const { cause, node = '' } = change;
      const ofNode = this.#recoveredOnNode.get(node) ?? new Map<CauseCode, number>();
      this.#recoveredOnNode.set(node, ofNode.set(cause, clock.now()));
      this.#recovered.set(cause, clock.now());
    });
  }

  /** The surroundings of this server's session, including the `given` ones. */
  of<Given>({ target, node }: SessionRecord, given: Given) {
    const gateway = this.#gateway;
    return {
      now: this.#clock.now(),
      target,
      listedAt: this.listedAt,
      accessedAnewAt: this.accessedAnewAt,
      sockets: {
        heldBy: gateway.problems.ofSockets(node),
        panelJudgedAt: this.#judgedAt('panel', pathSubject('websocket'), 'consoles'),
        nodeJudgedAt: node === undefined ? NEVER : this.#judgedAt(socketsSubject(node)),
      },
      polls: {
        heldBy: gateway.problems.ofPolls(node),
        panelJudgedAt: this.#judgedAt('panel', pathSubject('resources')),
        nodeJudgedAt: node === undefined ? NEVER : this.#judgedAt(pollsSubject(node)),
      },
      mayConnect: gateway.mayConnect(target.id, node),
      isTokenDelayed: gateway.delaysToken(target.id),
      trial: gateway.socketTrial(target.id),
      recovered: this.#recovered,
      recoveredOnNode: this.#recoveredOnNode.get(node ?? '') ?? NO_CAUSES,
      ...given,
    };
  }

  /** Forgets all nodes except those of these servers. */
  keepNodes(records: readonly SessionRecord[]): void {
    const nodes = new Set(records.map(({ node = '' }) => node));
    for (const node of this.#recoveredOnNode.keys()) if (!nodes.has(node)) this.#recoveredOnNode.delete(node);
    for (const subject of this.#judged.keys()) {
      const node = subjectNode(subject);
      if (node !== undefined && !nodes.has(node)) this.#judged.delete(subject);
    }
  }

  #judgedAt(...subjects: readonly Subject[]): number {
    return Math.max(...subjects.map((subject) => this.#judged.get(subject) ?? NEVER));
  }
}
