/** The last outcome of each of a panel's servers, on each of its channels. */
import { NEVER } from '../../domain/clock.ts';
import { CHANNELS, type Channel, NO_SERVER } from '../subjects.ts';
import { type Candidate, Candidates } from './candidates.ts';
import type { AskedServer, AskedServers, Outcome } from './outcome.ts';
import { type Facts, ServerEvidence } from './server-evidence.ts';

/** The number of servers, or outages, that are forgotten in one step. */
export const SLICE = 250;

/** The maximum number of candidates that are examined for a trial. */
const CANDIDATES_TRIED = 32;

/** The last outcome of a server on one channel, and its evidence. */
class Cell extends ServerEvidence {
  last: Outcome | undefined = undefined;
  candidate: Candidate | undefined = undefined;
}

/**
 * A server with its cells. They are fields of one object, so that an outcome fetches as little as
 * possible from memory.
 */
class Server implements Record<Channel, Cell | undefined> {
  readonly id: string;
  asked: AskedServer;
  /** The node for which the server counts. It may become known or change later. */
  node: string | undefined;
  /** Whether its socket streams. */
  streams = false;
  listing: Cell | undefined = undefined;
  websocket: Cell | undefined = undefined;
  resources: Cell | undefined = undefined;
  backups: Cell | undefined = undefined;
  schedules: Cell | undefined = undefined;
  sockets: Cell | undefined = undefined;

  constructor(id: string, asked: AskedServer) {
    this.id = id;
    this.asked = asked;
    this.node = asked.node;
  }
}

/**
 * The last outcomes. Each change immediately updates the evidence and the server's rank among the
 * candidates.
 */
export class LastOutcomes {
  readonly #facts: Facts;
  readonly #servers = new Map<string, Server>();
  /** The number of servers on each channel. */
  readonly #asked = byChannel(() => 0);
  readonly #candidates: Readonly<Record<Channel, Candidates>>;

  /** `random` is uniform in [0, 1). */
  constructor(facts: Facts, random: () => number) {
    this.#facts = facts;
    this.#candidates = byChannel(() => new Candidates(random));
  }

  /** Sets the servers that are asked, and forgets all others. */
  setAsked(asked: AskedServers): void {
    for (const server of this.#servers.values()) {
      for (const channel of CHANNELS)
        if (server[channel] !== undefined && !asked[channel].has(server.id)) this.#forget(server, channel);
      if (CHANNELS.every((channel) => server[channel] === undefined)) this.#servers.delete(server.id);
    }
    for (const channel of CHANNELS)
      for (const [id, one] of asked[channel]) {
        const server = this.#server(id, one);
        server.asked = one;
        this.#followNode(server);
        if (server[channel] !== undefined) continue;
        server[channel] = new Cell(this.#facts);
        this.#asked[channel] += 1;
        this.#count(server, channel);
      }
  }

  /** The server's last outcome on the channel. */
  last(channel: Channel, server: string): Outcome | undefined {
    return this.#servers.get(server)?.[channel]?.last;
  }

  asked(channel: Channel, server: string): AskedServer | undefined {
    const known = this.#servers.get(server);
    return known?.[channel] && known.asked;
  }

  /** The number of servers on the channel. */
  countAsked(channel: Channel): number {
    return this.#asked[channel];
  }

  /**
   * The server's last outcome on the channel. For sockets, this may be the panel's error about the
   * node when a token was requested.
   */
  lastSeen(channel: Channel, server: string): Outcome | undefined {
    const known = this.#servers.get(server);
    return known && lastSeen(known, channel);
  }

  /** Replaces or forgets the server's last outcome on the channel. */
  record(channel: Channel, server: string, last: Outcome | undefined): void {
    const known = this.#servers.get(server);
    if (known === undefined) return;
    const { [channel]: cell, streams } = known;
    if (cell !== undefined) {
      cell.last = last;
      if (channel === 'sockets') known.streams = last?.streams === true;
    }
    // If the node has changed, all outcomes are counted again, including this one.
    if (this.#followNode(known)) return;
    this.#count(known, channel);
    if (channel === 'websocket') this.#count(known, 'sockets');
    if (streams !== known.streams) this.#rankEverywhere(known);
  }

  /** Moves a server that failed because of a larger outage behind the others. */
  failedInOutage(channel: Channel, server: string, at: number): void {
    const candidate = this.#servers.get(server)?.[channel]?.candidate;
    if (candidate !== undefined) this.#candidates[channel].failed(candidate, at);
  }

  /**
   * Forgets the outcomes until now on these channels, except those of streaming sockets. Pauses
   * after each slice of the fleet.
   */
  *forget(channels: ReadonlySet<Channel>, now: number): Generator<void, void, undefined> {
    // Failures first, because without the successes that contradict them they would cause outages.
    yield* this.#forgetOutcomes(channels, ({ at, problem }) => at <= now && problem !== undefined);
    yield* this.#forgetOutcomes(channels, ({ at, streams }) => at <= now && streams !== true);
  }

  *#forgetOutcomes(
    channels: ReadonlySet<Channel>,
    isOver: (last: Outcome) => boolean,
  ): Generator<void, void, undefined> {
    let looks = 0;
    for (const server of this.#servers.values()) {
      for (const channel of channels) {
        const last = server[channel]?.last;
        if (last !== undefined && isOver(last)) this.record(channel, server.id, undefined);
      }
      looks += 1;
      if (looks % SLICE === 0) yield;
    }
  }

  /** Forgets failures of this node's sockets, without a search through other nodes. */
  forgetSocketFailures(node: string): void {
    for (const server of this.#candidates.sockets.serversOn(node))
      if (this.last('sockets', server)?.problem !== undefined) this.record('sockets', server, undefined);
  }

  /** Handles a server whose node may have become known or changed. */
  nodeMayHaveChanged(server: string): void {
    const known = this.#servers.get(server);
    if (known !== undefined) this.#followNode(known);
  }

  /**
   * The servers that may try the subject, the best first: one that streams, then one that never
   * failed there, then the one with the oldest failure, in random order among equals. For all
   * subjects except a node, nodes are chosen in the same order, by their servers' last failure, and
   * individually blocked servers are left out.
   */
  *candidates(channel: Channel, node: string | undefined): Generator<string, void, undefined> {
    const { [channel]: candidates } = this.#candidates;
    let left = CANDIDATES_TRIED;
    for (const server of node === undefined ? candidates.ofAll() : candidates.ofNode(node)) {
      if (left === 0) return;
      left -= 1;
      yield server;
    }
  }

  #server(id: string, asked: AskedServer): Server {
    let server = this.#servers.get(id);
    if (server === undefined) this.#servers.set(id, (server = new Server(id, asked)));
    return server;
  }

  #forget(server: Server, channel: Channel): void {
    const cell = server[channel];
    if (cell === undefined) return;
    cell.withdraw();
    server[channel] = undefined;
    this.#asked[channel] -= 1;
    if (cell.candidate !== undefined) this.#candidates[channel].delete(cell.candidate);
    if (channel === 'websocket') this.#count(server, 'sockets');
    if (channel !== 'sockets' || !server.streams) return;
    server.streams = false;
    this.#rankEverywhere(server);
  }

  /** Counts all outcomes again if the server's node has changed. Returns whether it has. */
  #followNode(server: Server): boolean {
    const { node } = server.asked;
    if (node === server.node) return false;
    server.node = node;
    for (const channel of CHANNELS) this.#count(server, channel);
    return true;
  }

  #count(server: Server, channel: Channel): void {
    const cell = server[channel];
    if (cell === undefined) return;
    this.#weigh(server, channel, cell);
    this.#rank(server, channel, cell);
  }

  #weigh(server: Server, channel: Channel, cell: Cell): void {
    const { node, streams } = server;
    if (channel !== 'sockets') {
      cell.call(channel, node, cell.last);
      return;
    }
    // A server that streams has access to its console.
    const granted = streams && this.#asked.websocket > 0 ? cell.last : undefined;
    cell.socket(node, lastSeen(server, channel), granted);
  }

  #rank(server: Server, channel: Channel, cell: Cell): void {
    const { id, node, streams } = server;
    if (id === NO_SERVER) return;
    const last = lastSeen(server, channel);
    cell.candidate = this.#candidates[channel].set(cell.candidate ?? id, node, last, streams);
  }

  #rankEverywhere(server: Server): void {
    for (const channel of CHANNELS) {
      const cell = server[channel];
      if (cell !== undefined) this.#rank(server, channel, cell);
    }
  }
}

function lastSeen(server: Server, channel: Channel): Outcome | undefined {
  const own = server[channel]?.last;
  if (channel !== 'sockets' || own?.streams === true) return own;
  const token = server.websocket?.last;
  return token?.signs.node === 'may fail' && token.at > (own?.at ?? NEVER) ? token : own;
}

function byChannel<Value>(create: () => Value): Record<Channel, Value> {
  return Object.fromEntries(CHANNELS.map((channel) => [channel, create()])) as Record<Channel, Value>;
}
