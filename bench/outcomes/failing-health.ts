// The health of a panel whose servers have all failed.
import { NO_SIGNS, socketSigns } from '../../src/diagnosis/signs.ts';
import type { CauseCode } from '../../src/domain/problems.ts';
import { Health } from '../../src/panel/health/health.ts';
import type { AskedServer } from '../../src/panel/health/outcome.ts';
import type { TrialCall } from '../../src/panel/health/trial-call.ts';
import {
  CHANNELS,
  NO_SERVER,
  type Path,
  pollsSubject,
  type Subject,
  socketsSubject,
} from '../../src/panel/subjects.ts';
import { StillClock } from './still-clock.ts';

/** The number of servers, and the number of their nodes. */
export interface Layout {
  readonly servers: number;
  readonly nodes: number;
}

export const serverOf = (index: number) =>
  `${index.toString(16).padStart(8, '0')}-259b-452e-8b4e-cecc464142ca`;
export const nodeName = (index: number, { nodes }: Layout) => `node-${index % nodes}`;

/** The time between two outcomes. */
const STEP_MS = 0.01;

export class FailingHealth {
  readonly clock = new StillClock();
  readonly health: Health;
  readonly #layout: Layout;
  readonly #asked: ReadonlyMap<string, AskedServer>;
  readonly #path: Exclude<Path, 'listing'>;
  /** The cause for which calls of trials fail. */
  #trialCause: CauseCode = 'node_unreachable';
  #next = 0;

  /** Starts with a panel that works. Its servers will fail on `path`. */
  constructor(layout: Layout, path: Exclude<Path, 'listing'> = 'resources') {
    const { clock } = this;
    this.#layout = layout;
    this.#path = path;
    const ids = Array.from({ length: layout.servers }, (_, index) => index);
    this.#asked = new Map(ids.map((index) => [serverOf(index), { node: nodeName(index, layout) }]));
    this.health = new Health({
      clock,
      random: Math.random,
      enqueue: this.#enqueue,
      changed: (change) => {
        if (change.of === 'trial') queueMicrotask(() => this.socketFails(change.server));
      },
    });
    this.use();
    this.listWorks();
  }

  /** Sets the servers of the panel, which are the same each time. */
  use(): void {
    const none = new Map<string, AskedServer>();
    const [websocket, resources] = [this.#asked, this.#asked].map((asked) => new Map(asked));
    if (websocket === undefined || resources === undefined) return;
    this.health.setUse({
      listing: 'required',
      asked: { websocket, resources, backups: none, schedules: none },
    });
  }

  /** Returns another server each time, of another node. */
  server(): string {
    // Servers that are neighbors in memory aren't used one after the other.
    this.#next = (this.#next + 7_919) % this.#layout.servers;
    return serverOf(this.#next);
  }

  /** Lets the sockets and polls of all servers fail, so that every node is blamed for both. */
  async nodesFail(): Promise<void> {
    for (const server of this.#asked.keys()) {
      this.callEnds(server, 'node_unreachable');
      this.socketFails(server);
      await settled();
    }
    for (let node = 0; node < this.#layout.nodes; node += 1)
      this.expect(socketsSubject(`node-${node}`), pollsSubject(`node-${node}`));
  }

  /** Lets the calls of all servers fail for this cause, so that the subject is blamed. */
  async callsFail(cause: CauseCode, subject?: Subject): Promise<void> {
    this.#trialCause = cause;
    for (const server of this.#asked.keys()) {
      this.callEnds(server, cause);
      if (subject !== 'panel') this.listWorks();
      await settled();
    }
    if (subject !== undefined) this.expect(subject);
  }

  expect(...subjects: readonly Subject[]): void {
    for (const subject of subjects)
      if (!this.health.isBlamed(subject)) throw new Error(`${subject} is not with an outage`);
  }

  callEnds(server: string, cause?: CauseCode, path: Path = this.#path): void {
    const problem = cause && { cause, detail: 'as the benchmark wants it' };
    const startedAt = this.clock.at;
    this.clock.at += STEP_MS;
    this.health.callEnded({ path, server, startedAt, problem, fromPanel: cause !== 'timeout' });
  }

  listWorks(): void {
    this.callEnds(NO_SERVER, undefined, 'listing');
  }

  /**
   * Only reads the maps that outcomes read: those about the server on each channel, and about its
   * node.
   */
  look(server: string): number {
    let known = 0;
    for (const channel of CHANNELS) {
      const node = this.health.asked(channel, server)?.node;
      if (this.health.last(channel, server) !== undefined) known += 1;
      if (node === undefined) continue;
      for (const subject of [socketsSubject(node), pollsSubject(node)])
        if (this.health.isBlamed(subject)) known += 1;
    }
    return known;
  }

  socketFails(server: string): void {
    const cause = 'node_connection';
    this.clock.at += STEP_MS;
    const problem = { cause, detail: 'connect ECONNREFUSED' } as const;
    this.health.socketEnded(server, { startedAt: this.clock.at, problem, signs: socketSigns(cause) });
  }

  socketStreams(server: string): void {
    this.clock.at += STEP_MS;
    const signs = { ...NO_SIGNS, ...socketSigns(undefined) };
    this.health.socketEnded(server, { startedAt: this.clock.at, problem: undefined, signs, streams: true });
  }

  /** Makes the call of a trial, which ends like any other call. */
  readonly #enqueue = ({ path, servers }: TrialCall) => {
    const [server] = servers;
    if (server === undefined) return undefined;
    return { server, end: this.#trialEnds(path, server) };
  };

  async #trialEnds(path: Path, server: string): Promise<void> {
    await Promise.resolve();
    if (path === 'listing') this.listWorks();
    else this.callEnds(server, this.#trialCause, path);
  }
}

/** Waits as many turns of promises as trials need to end and calls need to start. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 30; turn += 1) await Promise.resolve();
}
