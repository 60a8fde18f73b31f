/** The gates for lines of waiting calls. Each is closed while its rule holds them. */
import { PriorityQueue, type Rank } from '../priority-queue.ts';

/** The gate of lines that no rule is known to hold. */
export const OPEN = 'open';

/**
 * The gate of lines that only the rate limit holds. Their calls are part of the backlog even while
 * it is closed.
 */
const SHORTAGE = 'gate shortage';

/** A line of calls, ranked by its first call. */
interface RankedLine {
  readonly calls: { readonly firstRank: Rank | undefined };
}

/** The lines that the same rule holds. */
interface NamedGate<Line> {
  readonly name: string;
  readonly lines: PriorityQueue<Line>;
  /** The number of calls in its lines, and of connects among them. */
  calls: number;
  connects: number;
  isOpen: boolean;
}

/** A gate exists while it has lines, and is open at first. */
export class Gates<Line extends RankedLine> {
  readonly #gates = new Map<string, NamedGate<Line>>();
  /** Open gates, by their first line. */
  readonly #open = new PriorityQueue<NamedGate<Line>>();
  /**
   * Closed gates, by the instants at which they open. A gate that only a change opens isn't
   * included.
   */
  readonly #closed = new PriorityQueue<NamedGate<Line>>();
  /** The number of calls that only the rate limit holds. */
  backlog = 0;
  /** The number of connects in the backlog. */
  connects = 0;

  /** The first line of all open gates. */
  get first(): Line | undefined {
    return this.#open.first?.lines.first;
  }

  /** When the next gate opens; infinite if only a change opens one. */
  get opensAt(): number {
    return this.#closed.lowest;
  }

  /** Adds the line to this gate, or moves it within the gate after its first call has changed. */
  put(line: Line, name: string): void {
    let gate = this.#gates.get(name);
    if (gate === undefined) {
      gate = { name, lines: new PriorityQueue<Line>(), calls: 0, connects: 0, isOpen: true };
      this.#gates.set(name, gate);
    }
    gate.lines.put(line, ...(line.calls.firstRank ?? []));
    if (gate.isOpen) this.#rank(gate);
  }

  /** Removes the line from this gate, if it is there. */
  delete(line: Line, name: string): void {
    const gate = this.#gates.get(name);
    if (gate === undefined || !gate.lines.delete(line)) return;
    if (gate.lines.size === 0) {
      this.#open.delete(gate);
      this.#closed.delete(gate);
      this.#gates.delete(name);
    } else if (gate.isOpen) this.#rank(gate);
  }

  /**
   * Counts calls, and connects among them, that joined lines of this gate, or that left if
   * negative.
   */
  count(name: string, calls: number, connects: number): void {
    const gate = this.#gates.get(name);
    if (gate === undefined) return;
    gate.calls += calls;
    gate.connects += connects;
    if (gate.isOpen || name === SHORTAGE) this.#add(calls, connects);
  }

  /**
   * Closes the gate until this instant. If that is infinite, it stays closed until it is opened.
   */
  close(name: string, until: number): void {
    const gate = this.#gates.get(name);
    if (gate === undefined) return;
    if (gate.isOpen && name !== SHORTAGE) this.#add(-gate.calls, -gate.connects);
    gate.isOpen = false;
    this.#open.delete(gate);
    if (Number.isFinite(until)) this.#closed.put(gate, until);
    else this.#closed.delete(gate);
  }

  open(name: string): void {
    const gate = this.#gates.get(name);
    if (gate !== undefined) this.#openGate(gate);
  }

  openAll(): void {
    for (const gate of this.#gates.values()) this.#openGate(gate);
  }

  /** Opens the gates that were closed until now or earlier. */
  openDue(now: number): void {
    for (const gate of this.#closed.takeUpTo(now)) this.#openGate(gate);
  }

  #openGate(gate: NamedGate<Line>): void {
    this.#closed.delete(gate);
    if (!gate.isOpen && gate.name !== SHORTAGE) this.#add(gate.calls, gate.connects);
    gate.isOpen = true;
    this.#rank(gate);
  }

  #rank(gate: NamedGate<Line>): void {
    this.#open.put(gate, ...(gate.lines.firstRank ?? []));
  }

  #add(calls: number, connects: number): void {
    this.backlog += calls;
    this.connects += connects;
  }
}
