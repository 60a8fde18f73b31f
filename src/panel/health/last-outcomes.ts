/** The last outcome of each server of a panel, on each channel where it is asked. */
import { CHANNELS, type Channel, NO_SERVER } from '../subjects.ts';
import { type Candidate, Candidates } from './candidates.ts';
import { type Asked, type AskedServer, NEVER, type Outcome } from './outcome.ts';
import { type Facts, Testimony } from './testimony.ts';

/** How many servers, or outages, are dealt with at once when all are forgotten. */
export const SLICE = 250;

/** How many candidates are looked at for one that may try. */
const CANDIDATES_TRIED = 32;

/** A server on a channel, and its last outcome. */
interface Cell {
  readonly channel: Channel;
  readonly testimony: Testimony;
  asked: AskedServer;
  last: Outcome | undefined;
  /** The node under which it is counted: it may become known, or change, later. */
  node: string | undefined;
  candidate: Candidate | undefined;
}

/**
 * A server's cells on all channels, together because code that reads one usually reads another
 * next.
 */
type Cells = Record<Channel, Cell | undefined>;

/**
 * Each change at once updates the evidence and the server's rank among the candidates for trials.
 */
export class LastOutcomes {
  readonly #facts: Facts;
  readonly #servers = new Map<string, Cells>();
  /** The number of servers that are asked on each channel. */
  readonly #asked = byChannel(() => 0);
  readonly #candidates: Readonly<Record<Channel, Candidates>>;

  /** `random` is uniform in [0, 1). */
  constructor(facts: Facts, random: () => number) {
    this.#facts = facts;
    this.#candidates = byChannel(() => new Candidates(random));
  }

  /** These servers are asked; others are forgotten. */
  setAsked(asked: Asked): void {
    for (const [server, cells] of this.#servers) {
      for (const channel of CHANNELS)
        if (cells[channel] !== undefined && !asked[channel].has(server)) this.#forget(cells, channel, server);
      if (CHANNELS.every((channel) => cells[channel] === undefined)) this.#servers.delete(server);
    }
    for (const channel of CHANNELS)
      for (const [server, one] of asked[channel]) {
        const cells = this.#cellsOf(server);
        const cell = cells[channel];
        if (cell === undefined) {
          cells[channel] = this.#cell(channel, one);
          this.#asked[channel] += 1;
          this.#count(cells, channel, server);
        } else {
          cell.asked = one;
          if (cell.node !== one.node) this.#count(cells, channel, server);
        }
      }
  }

  /** The server's last outcome on the channel. */
  last(channel: Channel, server: string): Outcome | undefined {
    return this.#servers.get(server)?.[channel]?.last;
  }

  asked(channel: Channel, server: string): AskedServer | undefined {
    return this.#servers.get(server)?.[channel]?.asked;
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
    const cells = this.#servers.get(server);
    return cells && lastSeen(cells, channel);
  }

  /** Replaces the server's last outcome on the channel, or forgets it. */
  record(channel: Channel, server: string, last: Outcome | undefined): void {
    const cells = this.#servers.get(server);
    if (cells === undefined) return;
    const cell = cells[channel];
    if (cell !== undefined) {
      const streamed = cell.last?.streams === true;
      cell.last = last;
      this.#count(cells, channel, server);
      if (channel === 'sockets' && streamed !== (last?.streams === true)) this.#rankEverywhere(cells, server);
    }
    if (channel === 'websocket') this.#count(cells, 'sockets', server);
    this.#followNode(cells, server);
  }

  /** The server failed because of a larger outage, so others are to try before it. */
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
    for (const [server, cells] of this.#servers) {
      for (const channel of channels) {
        const last = cells[channel]?.last;
        if (last !== undefined && isOver(last)) this.record(channel, server, undefined);
      }
      looks += 1;
      if (looks % SLICE === 0) yield;
    }
  }

  /** Forgets failures of this node's sockets, without a search through other nodes. */
  forgetSocketFailures(node: string): void {
    for (const server of this.#candidates.sockets.serversOf(node))
      if (this.last('sockets', server)?.problem !== undefined) this.record('sockets', server, undefined);
  }

  /** The server's node may have become known, or have changed. */
  nodeMayHaveChanged(server: string): void {
    const cells = this.#servers.get(server);
    if (cells !== undefined) this.#followNode(cells, server);
  }

  /**
   * The servers that may try the subject, the best first: a server that streams, then one that
   * never failed there, then the one whose failure is oldest, at random among equals. Except for a
   * node, nodes are chosen first, in the same order, by the last failure of any of their servers,
   * and servers that are refused for a reason of their own try nothing once the panel has proved to
   * work.
   */
  *candidates(channel: Channel, node: string | undefined): Generator<string, void, undefined> {
    const { [channel]: candidates } = this.#candidates;
    const isKnown = Number.isFinite(this.#facts.provenAt);
    let left = CANDIDATES_TRIED;
    for (const server of node === undefined ? candidates.ofAll(!isKnown) : candidates.ofNode(node)) {
      if (left === 0) return;
      left -= 1;
      yield server;
    }
  }

  #cellsOf(server: string): Cells {
    let cells = this.#servers.get(server);
    if (cells === undefined) this.#servers.set(server, (cells = byChannel(() => undefined)));
    return cells;
  }

  #forget(cells: Cells, channel: Channel, server: string): void {
    const cell = cells[channel];
    if (cell === undefined) return;
    cell.testimony.withdraw();
    cells[channel] = undefined;
    this.#asked[channel] -= 1;
    if (cell.candidate !== undefined) this.#candidates[channel].delete(cell.candidate);
    if (channel === 'sockets' && cell.last?.streams === true) this.#rankEverywhere(cells, server);
    if (channel === 'websocket') this.#count(cells, 'sockets', server);
  }

  #cell(channel: Channel, asked: AskedServer): Cell {
    const testimony = new Testimony(this.#facts);
    return { channel, testimony, asked, last: undefined, node: undefined, candidate: undefined };
  }

  #followNode(cells: Cells, server: string): void {
    for (const channel of CHANNELS) {
      const cell = cells[channel];
      if (cell !== undefined && cell.node !== cell.asked.node) this.#count(cells, channel, server);
    }
  }

  #count(cells: Cells, channel: Channel, server: string): void {
    const cell = cells[channel];
    if (cell === undefined) return;
    this.#weigh(cells, cell);
    this.#rank(cells, cell, server);
  }

  #weigh(cells: Cells, cell: Cell): void {
    const { channel, testimony, last } = cell;
    cell.node = cell.asked.node;
    if (channel !== 'sockets') {
      testimony.call(channel, cell.node, last);
      return;
    }
    // A server that streams was granted its console.
    const granted = last?.streams === true && this.#asked.websocket > 0 ? last : undefined;
    testimony.socket(cell.node, lastSeen(cells, 'sockets'), granted);
  }

  #rank(cells: Cells, cell: Cell, server: string): void {
    if (server === NO_SERVER) return;
    const { channel, node, candidate } = cell;
    const streams = cells.sockets?.last?.streams === true;
    const last = lastSeen(cells, channel);
    cell.candidate = this.#candidates[channel].set(candidate ?? server, node, last, streams);
  }

  #rankEverywhere(cells: Cells, server: string): void {
    for (const channel of CHANNELS) {
      const cell = cells[channel];
      if (cell !== undefined) this.#rank(cells, cell, server);
    }
  }
}

function lastSeen(cells: Cells, channel: Channel): Outcome | undefined {
  const own = cells[channel]?.last;
  if (channel !== 'sockets' || own?.streams === true) return own;
  const token = cells.websocket?.last;
  return token?.signs.node === 'may fail' && token.at > (own?.at ?? NEVER) ? token : own;
}

function byChannel<Value>(create: () => Value): Record<Channel, Value> {
  return Object.fromEntries(CHANNELS.map((channel) => [channel, create()])) as Record<Channel, Value>;
}
