/** The last outcome of each server of a panel, on each channel where it is asked. */
import { NEVER } from '../../domain/time.ts';
import { CHANNELS, type Channel, NO_SERVER } from '../subjects.ts';
import { type Candidate, Candidates } from './candidates.ts';
import type { AskedServer, AskedServers, Outcome } from './outcome.ts';
import { type Facts, ServerEvidence } from './server-evidence.ts';

/** How many servers, or outages, are dealt with at once when all are forgotten. */
export const SLICE = 250;

/** How many candidates are looked at for one that may try. */
const CANDIDATES_TRIED = 32;

/** A server on a channel: its last outcome there, and what that proves. */
class Cell extends ServerEvidence {
  last: Outcome | undefined = undefined;
  candidate: Candidate | undefined = undefined;
}

/**
 * A server with its cells, together because code that reads one usually reads another next. They
 * are fields of one object, so that an outcome fetches as little as possible from memory.
 */
class Server implements Record<Channel, Cell | undefined> {
  readonly id: string;
  asked: AskedServer;
  /** The node under which it is counted: it may become known, or change, later. */
  node: string | undefined;
  /** Its socket streams. */
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
 * Each change at once updates the evidence and the server's rank among the candidates for trials.
 */
export class LastOutcomes {
  readonly #facts: Facts;
  readonly #servers = new Map<string, Server>();
  /** The number of servers that are asked on each channel. */
  readonly #asked = byChannel(() => 0);
  readonly #candidates: Readonly<Record<Channel, Candidates>>;

  /** `random` is uniform in [0, 1). */
  constructor(facts: Facts, random: () => number) {
    this.#facts = facts;
    this.#candidates = byChannel(() => new Candidates(random));
  }

  /** These servers are asked; others are forgotten. */
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

  /** The number of servers that are asked there. */
  countAsked(channel: Channel): number {
    return this.#asked[channel];
  }

  /**
   * The server's last outcome on the channel; on sockets, this may be the panel's error for the
   * node when a token was requested.
   */
  lastSeen(channel: Channel, server: string): Outcome | undefined {
    const known = this.#servers.get(server);
    return known && lastSeen(known, channel);
  }

  /** Replaces the server's last outcome on the channel, or forgets it. */
  record(channel: Channel, server: string, last: Outcome | undefined): void {
    const known = this.#servers.get(server);
    if (known === undefined) return;
    const { [channel]: cell, streams } = known;
    if (cell !== undefined) {
      cell.last = last;
      if (channel === 'sockets') known.streams = last?.streams === true;
    }
    // All its outcomes may have to be counted anew, with this one.
    if (this.#followNode(known)) return;
    this.#count(known, channel);
    if (channel === 'websocket') this.#count(known, 'sockets');
    if (streams !== known.streams) this.#rankEverywhere(known);
  }

  /** The server failed because of a larger outage, so it tries after the others. */
  failedInOutage(channel: Channel, server: string, at: number): void {
    const candidate = this.#servers.get(server)?.[channel]?.candidate;
    if (candidate !== undefined) this.#candidates[channel].failed(candidate, at);
  }

  /**
   * Forgets the outcomes until now on these channels, except of sockets that stream; pauses after
   * each slice of the fleet.
   */
  *forget(channels: ReadonlySet<Channel>, now: number): Generator<void, void, undefined> {
    // Failures first: without the successes that contradict them, they would begin outages.
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

  /** The server's node may have become known, or have changed. */
  nodeMayHaveChanged(server: string): void {
    const known = this.#servers.get(server);
    if (known !== undefined) this.#followNode(known);
  }

  /**
   * The servers that may try the subject, the best first: a server that streams, then one that
   * never failed there, then the one whose failure is oldest, at random among equals. Except for a
   * node, nodes are chosen first, in the same order, by the last failure of any of their servers,
   * and servers that are refused for a reason of their own try nothing.
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

  /** Returns whether the server's node has changed, so that all its outcomes were counted anew. */
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
    // A server that streams was granted its console.
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
