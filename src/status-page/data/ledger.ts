import { type LastStop, type ServerReading, shownQuery } from '../../domain/reading.ts';
import { identityOf, isOff, isSameServer, type ServerState } from '../../domain/server.ts';
import { isCrash, unwantedStops } from './attention.ts';
import { HistoryStore, type Series, SparseHistory, Traffic } from './history.ts';
import { POINTS, STEP_SECONDS, type StateChange } from './protocol.ts';
import { withState, withStop } from './state-changes.ts';

/** The number of chart points over which CPU usage must be high to count as saturated: the last minute. */
const CPU_POINTS = 12;

/** The number of unwanted stops kept per server. */
const MAX_STOPS = 20;

const NO_STOPS: readonly LastStop[] = [];
const NO_CHANGES: readonly StateChange[] = [];

/** The data kept of one server while it is in the fleet. */
export interface Entry {
  reading: ServerReading;
  readonly slot: number;
  readonly traffic: Traffic;
  /** Undefined until the game has been queried. */
  players: SparseHistory | undefined;
  state: ServerState;
  /** Undefined until its state has been known once. */
  changes: readonly StateChange[] | undefined;
  /** The monotonic instant since which the server has been observed to be off; undefined while it is on. */
  offSince: number | undefined;
  lastStop: LastStop | undefined;
  /** The last stop that nobody requested and that has a known reason. */
  lastCrash: LastStop | undefined;
  /** Unwanted and unexplained stops, newest last; some may be too old to count. */
  unwantedStops: readonly LastStop[];
  /** Cores over the last minute; NaN if unknown. */
  cpuMean: number;
  /** The last look at the fleet that included this server. */
  look: number;
}

/** A server's key in the history, the same for its short and its full id. */
export function serverKey(panel: string, id: string): string {
  return `${panel}/${identityOf({ id })}`;
}

/**
 * Follows the fleet for the status page: every second the state of all servers and the samples of a fifth of them, so that each
 * gets a chart point every five seconds and the work is spread evenly. Servers that leave are forgotten.
 */
export class Ledger {
  readonly #history = new HistoryStore();
  readonly #byKey = new Map<string, Entry>();
  #servers: readonly ServerReading[] = [];
  #entries: readonly Entry[] = [];
  #looks = 0;
  #second: number | undefined;
  /** The newest step of the servers of each turn; a server's turn is its slot modulo the number of turns. */
  readonly #lastSteps = Array.from({ length: STEP_SECONDS }, () => -1);

  /** In the order in which the fleet was last seen. */
  get entries(): readonly Entry[] {
    return this.#entries;
  }

  /** The entry for `<panel>/<id>`, with the short or the full id; an id has no slash. */
  find(key: string): Entry | undefined {
    const slash = key.lastIndexOf('/');
    return this.#byKey.get(serverKey(key.slice(0, slash), key.slice(slash + 1)));
  }

  /** Records the fleet's servers at the monotonic instant `now`. */
  observe(servers: readonly ServerReading[], now: number, unixMs: number): void {
    if (servers !== this.#servers) this.#follow(servers);
    const second = Math.floor(now / 1_000);
    const due = this.#dueTurns(second);
    for (const entry of this.#entries) {
      const { reading, slot } = entry;
      const isFresh = reading.isFresh(now);
      const state = isFresh ? reading.state : 'unknown';
      if (state !== entry.state) noteState(entry, state, now, unixMs);
      if (reading.lastStop !== entry.lastStop) noteStop(entry, now, unixMs);
      const step = due[slot % STEP_SECONDS];
      if (step === undefined) continue;
      this.#record(entry, step, isFresh);
      recordPlayers(entry, step, now);
    }
  }

  /** One series of a server, oldest point first; null if unknown. */
  series(entry: Entry, series: Series): (number | null)[] {
    return this.#history.read(entry.slot, series, this.#lastStep(entry));
  }

  /** The player counts, oldest first; undefined if the game was never queried. */
  players(entry: Entry): (number | null)[] | undefined {
    return entry.players?.read(this.#lastStep(entry));
  }

  /** The monotonic instant of the newest point, in milliseconds. */
  newestPointAt(entry: Entry): number {
    return (this.#lastStep(entry) * STEP_SECONDS + (entry.slot % STEP_SECONDS)) * 1_000;
  }

  changes(entry: Entry): readonly StateChange[] {
    return entry.changes ?? NO_CHANGES;
  }

  #lastStep(entry: Entry): number {
    return Math.max(0, this.#lastSteps[entry.slot % STEP_SECONDS] ?? 0);
  }

  #follow(servers: readonly ServerReading[]): void {
    this.#servers = servers;
    this.#looks += 1;
    this.#entries = servers.map((reading) => this.#entryOf(reading));
    for (const [key, { look, slot }] of this.#byKey) {
      if (look === this.#looks) continue;
      this.#byKey.delete(key);
      this.#history.release(slot);
    }
  }

  #entryOf(reading: ServerReading): Entry {
    const key = serverKey(reading.target.panel, reading.target.id);
    const found = this.#byKey.get(key);
    if (found !== undefined && !isSameServer(found.reading.target, reading.target)) {
      this.#history.release(found.slot);
    } else if (found !== undefined) {
      found.reading = reading;
      found.look = this.#looks;
      return found;
    }
    const entry: Entry = {
      reading,
      slot: this.#history.allocate(),
      traffic: new Traffic(),
      players: undefined,
      state: 'unknown',
      changes: undefined,
      offSince: undefined,
      lastStop: undefined,
      lastCrash: undefined,
      unwantedStops: NO_STOPS,
      cpuMean: Number.NaN,
      look: this.#looks,
    };
    this.#byKey.set(key, entry);
    return entry;
  }

  /** The step to write now, by turn; several turns if the timer was late, but each turn at most once. */
  #dueTurns(second: number): (number | undefined)[] {
    const due: (number | undefined)[] = [];
    const first = Math.max((this.#second ?? second - 1) + 1, second - STEP_SECONDS + 1);
    for (let at = first; at <= second; at += 1) {
      const turn = at % STEP_SECONDS;
      const step = Math.floor(at / STEP_SECONDS);
      this.#skip(turn, step);
      this.#lastSteps[turn] = step;
      due[turn] = step;
    }
    this.#second = Math.max(second, this.#second ?? second);
    return due;
  }

  // Clears skipped steps, which would otherwise show values from a whole round ago.
  #skip(turn: number, next: number): void {
    const last = this.#lastSteps[turn] ?? -1;
    if (last < 0) return;
    for (let step = Math.max(last + 1, next - POINTS); step < next; step += 1) {
      for (const { slot, players } of this.#entries) {
        if (slot % STEP_SECONDS !== turn) continue;
        this.#clear(slot, step);
        players?.write(step, Number.NaN);
      }
    }
  }

  #clear(slot: number, step: number): void {
    this.#history.write(slot, step, Number.NaN, Number.NaN, Number.NaN, Number.NaN);
  }

  #record(entry: Entry, step: number, isFresh: boolean): void {
    const { reading, slot, traffic } = entry;
    const { sample, sampledAt } = reading;
    if (!isFresh || sample === undefined || sampledAt === undefined) {
      traffic.clear();
      this.#clear(slot, step);
      entry.cpuMean = Number.NaN;
      return;
    }
    const receive = traffic.receiveRate(sample, sampledAt);
    const transmit = traffic.transmitRate(sample, sampledAt);
    traffic.mark(sample, sampledAt);
    const { cpuCores = Number.NaN, memoryBytes = Number.NaN } = sample;
    this.#history.write(slot, step, cpuCores, memoryBytes, receive, transmit);
    entry.cpuMean = this.#history.mean(slot, 'cpuCores', step, CPU_POINTS);
  }
}

function recordPlayers(entry: Entry, step: number, now: number): void {
  const query = shownQuery(entry.reading, now);
  if (query !== undefined) entry.players ??= new SparseHistory();
  entry.players?.write(step, query?.players ?? Number.NaN);
}

// The first known state isn't a change.
function noteState(entry: Entry, state: ServerState, now: number, unixMs: number): void {
  const isFirst = entry.state === 'unknown' && entry.changes === undefined;
  entry.state = state;
  if (isOff(state)) entry.offSince ??= now;
  else if (state !== 'unknown') entry.offSince = undefined;
  entry.changes = isFirst ? NO_CHANGES : withState(entry.changes ?? NO_CHANGES, state, unixMs);
}

function noteStop(entry: Entry, now: number, unixMs: number): void {
  const { lastStop } = entry.reading;
  entry.lastStop = lastStop;
  if (lastStop === undefined) return;
  if (isCrash(lastStop.reason)) entry.lastCrash = lastStop;
  entry.unwantedStops = unwantedStops([...entry.unwantedStops, lastStop], now).slice(-MAX_STOPS);
  entry.changes = withStop(entry.changes ?? NO_CHANGES, lastStop, unixMs - (now - lastStop.at), entry.state);
}
