import type { Clock } from '../domain/clock.ts';
import type { CauseCode } from '../domain/problem.ts';
import { nodeOf, pathOf, pollsOf, type Subject, socketsOf } from '../panel/blame.ts';
import type { PanelGateway } from '../panel/gateway.ts';
import type { Recovery } from '../panel/troubles.ts';
import type { PollIntervals } from '../session/due.ts';
import type { SessionRecord, Surroundings } from '../session/session-ports.ts';

export interface SurroundingsOptions {
  readonly clock: Clock;
  readonly gateway: PanelGateway;
  readonly intervals: () => PollIntervals;
  readonly hasRoom: (record: SessionRecord) => boolean;
}

const NEVER = Number.NEGATIVE_INFINITY;
const NOTHING: ReadonlyMap<CauseCode, number> = new Map();

/** What a panel's sessions see: what holds now, and when that changed. */
export class PanelSurroundings {
  readonly #options: SurroundingsOptions;
  /** When each was last blamed or cleared. */
  readonly #judged = new Map<Subject, number>();
  /** When a server last worked that had failed for a cause, also by node. */
  readonly #recovered = new Map<CauseCode, number>();
  readonly #recoveredOnNode = new Map<string, Map<CauseCode, number>>();
  #listedAt = NEVER;

  constructor(options: SurroundingsOptions) {
    this.#options = options;
  }

  /** What the session of this server sees. */
  of(record: SessionRecord, isRunning: boolean): Surroundings {
    const { clock, gateway, intervals, hasRoom } = this.#options;
    const { target, node } = record;
    const { pollIntervalMs, stalenessMs } = intervals();
    return {
      now: clock.now(),
      isRunning,
      target,
      listedAt: this.#listedAt,
      hasRoom: hasRoom(record),
      sockets: {
        heldBy: gateway.socketHold(node),
        panelJudgedAt: this.#judgedAt('panel', pathOf('websocket'), 'consoles'),
        nodeJudgedAt: node === undefined ? NEVER : this.#judgedAt(socketsOf(node)),
      },
      polls: {
        heldBy: gateway.pollHold(node),
        panelJudgedAt: this.#judgedAt('panel', pathOf('resources')),
        nodeJudgedAt: node === undefined ? NEVER : this.#judgedAt(pollsOf(node)),
      },
      mayConnect: gateway.mayConnect(target.id, node),
      trial: gateway.socketTrial(target.id),
      recovered: this.#recovered,
      recoveredOnNode: this.#recoveredOnNode.get(node ?? '') ?? NOTHING,
      pollIntervalMs,
      stalenessMs,
    };
  }

  /** The server list was read completely. */
  listed(): void {
    this.#listedAt = this.#options.clock.now();
  }

  /** The subject is blamed, or no longer. */
  judged(subject: Subject): void {
    this.#judged.set(subject, this.#options.clock.now());
  }

  /** A server that failed works. */
  recoveredFrom({ cause, node = '' }: Recovery): void {
    const now = this.#options.clock.now();
    this.#recovered.set(cause, now);
    const ofNode = this.#recoveredOnNode.get(node) ?? new Map<CauseCode, number>();
    this.#recoveredOnNode.set(node, ofNode.set(cause, now));
  }

  /** Forgets all nodes but those of these servers. */
  keepNodes(records: readonly SessionRecord[]): void {
    const nodes = new Set(records.map(({ node = '' }) => node));
    for (const node of this.#recoveredOnNode.keys()) if (!nodes.has(node)) this.#recoveredOnNode.delete(node);
    for (const subject of this.#judged.keys()) {
      const node = nodeOf(subject);
      if (node !== undefined && !nodes.has(node)) this.#judged.delete(subject);
    }
  }

  #judgedAt(...subjects: readonly Subject[]): number {
    return Math.max(...subjects.map((subject) => this.#judged.get(subject) ?? NEVER));
  }
}
