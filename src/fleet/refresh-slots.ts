import type { TokenSlots, TokenUse } from '../session/token.ts';

/** A token is refreshed between these parts of its life: early enough to retry, late enough to cost few calls. */
const REFRESH_FROM = 0.75;
const REFRESH_TO = 0.9;

/** The first refresh of a socket may come earlier, so that a fleet that started together spreads quickly. */
const FIRST_REFRESH_FROM = 0.1;

/** A slot comes round after this part of a token's life, so that a server that keeps its slot refreshes within the bounds. */
const CYCLE = 0.825;

/** The number of slots in a cycle: about five seconds each for tokens of ten minutes. */
const SLOTS = 100;

const MINUTE_MS = 60_000;

/** A server moves to another slot only if that slot has at least this many fewer refreshes around it. */
const WORTH_MOVING = 2;

/** Spreads the refreshes of one slot over its length: multiples of the golden ratio are never close to each other. */
const SPREAD = 0.618_034;

/** A server's place in the cycle. */
interface SlotPlace {
  readonly cycle: Cycle;
  readonly slot: number;
  /** The position in the slot, from 0 to 1. */
  readonly offset: number;
}

/** The slots shared by tokens of one lifetime. */
class Cycle {
  readonly lifetimeMs: number;
  readonly slotMs: number;
  /**
   * The load around each slot: its own refreshes count fully, those of its neighbors less with each step, down to zero half a
   * minute away.
   */
  readonly #loads = new Int32Array(SLOTS);
  /** Slots to either side within half a minute; a refresh weighs one more than this in its own slot. */
  readonly #reach: number;
  #added = 0;

  constructor(lifetimeMs: number) {
    this.lifetimeMs = lifetimeMs;
    this.slotMs = (lifetimeMs * CYCLE) / SLOTS;
    this.#reach = Math.min(Math.floor(SLOTS / 2) - 1, Math.max(1, Math.ceil(MINUTE_MS / this.slotMs / 2)));
  }

  /** The first instant at or after `from` at which a place comes round. */
  instantOf({ slot, offset }: Pick<SlotPlace, 'slot' | 'offset'>, from: number): number {
    const cycleMs = this.slotMs * SLOTS;
    const phase = (slot + offset) * this.slotMs;
    return from + ((((phase - from) % cycleMs) + cycleMs) % cycleMs);
  }

  /** Refreshes around a slot, weighted by how near they are. */
  loadOf(slot: number): number {
    return (this.#loads[slot] ?? 0) / (this.#reach + 1);
  }

  /** The slot with the fewest refreshes around it among those that come round between two instants; the latest if several do. */
  emptiest(from: number, to: number): number {
    const first = Math.ceil(from / this.slotMs);
    const last = Math.max(first, Math.floor(to / this.slotMs) - 1);
    let best = modulo(last);
    let least = Number.POSITIVE_INFINITY;
    for (let index = Math.min(last, first + SLOTS - 1); index >= first; index -= 1) {
      const slot = modulo(index);
      const load = this.loadOf(slot);
      if (load >= least) continue;
      least = load;
      best = slot;
    }
    return best;
  }

  add(slot: number): SlotPlace {
    this.#count(slot, 1);
    this.#added += 1;
    return { cycle: this, slot, offset: (this.#added * SPREAD) % 1 };
  }

  remove(slot: number): void {
    this.#count(slot, -1);
  }

  #count(slot: number, change: 1 | -1): void {
    for (let step = -this.#reach; step <= this.#reach; step += 1) {
      const near = modulo(slot + step);
      this.#loads[near] = (this.#loads[near] ?? 0) + change * (this.#reach + 1 - Math.abs(step));
    }
  }
}

const modulo = (index: number) => ((index % SLOTS) + SLOTS) % SLOTS;

/**
 * Spreads the token refreshes of a fleet evenly: each server has a slot in a cycle that is as long as a refreshed token is used.
 */
export class RefreshSlots implements TokenSlots {
  readonly #cycles = new Map<number, Cycle>();
  readonly #places = new Map<string, SlotPlace>();
  #quietUntil = Number.NEGATIVE_INFINITY;

  /** Delays first refreshes until this monotonic instant if possible, because the fleet is still being connected. */
  setQuiet(until: number): void {
    this.#quietUntil = until;
  }

  /** When a token received at `now` is to be refreshed, in monotonic milliseconds. */
  refreshAt(server: string, use: TokenUse, now: number, lifetimeMs: number): number {
    const cycle = this.#cycleOf(lifetimeMs);
    const latest = now + lifetimeMs * REFRESH_TO;
    const regular = now + lifetimeMs * REFRESH_FROM;
    const first = Math.max(now + lifetimeMs * FIRST_REFRESH_FROM, Math.min(this.#quietUntil, regular));
    const place = this.#placeFor(server, cycle, use === 'refresh' ? [regular, first] : [first], latest);
    const inTime = cycle.instantOf(place, regular);
    const at = use === 'refresh' && inTime <= latest ? inTime : cycle.instantOf(place, first);
    return Math.floor(Math.min(latest, at));
  }

  /** Frees the server's slot, because its socket is gone, temporarily or permanently. */
  release(server: string): void {
    const place = this.#places.get(server);
    if (place === undefined) return;
    place.cycle.remove(place.slot);
    this.#places.delete(server);
  }

  /** The server's current place, or a better one that comes round between one of the `earliest` instants and `latest`. */
  #placeFor(server: string, cycle: Cycle, earliest: readonly number[], latest: number): SlotPlace {
    const before = this.#places.get(server);
    this.release(server);
    const slot = cycle.emptiest(earliest[0] ?? latest, latest);
    // A late refresh comes earlier the next time and so returns to its slot.
    const isInReach =
      before?.cycle === cycle && earliest.some((from) => cycle.instantOf(before, from) <= latest);
    const isWorthIt = isInReach && cycle.loadOf(before.slot) - cycle.loadOf(slot) >= WORTH_MOVING;
    if (isInReach && !isWorthIt) {
      cycle.add(before.slot);
      this.#places.set(server, before);
      return before;
    }
    const place = cycle.add(slot);
    this.#places.set(server, place);
    return place;
  }

  #cycleOf(lifetimeMs: number): Cycle {
    // Token lifetimes of one panel differ by the seconds that calls take.
    const seconds = Math.max(1, Math.round(lifetimeMs / 10_000)) * 10;
    let cycle = this.#cycles.get(seconds);
    if (cycle === undefined) {
      cycle = new Cycle(seconds * 1_000);
      this.#cycles.set(seconds, cycle);
    }
    return cycle;
  }
}
