/** The gates at which lines of waiting calls stand, each closed while its rule holds them. */
import { type Rank, Ranking } from '../ranking.ts';

/** The gate of lines that no rule is known to hold. */
export const OPEN = 'open';

/** The gate of lines that only the rate holds: their calls are backlog while it is closed, too. */
const SHORTAGE = 'gate shortage';

/** A line of calls, by the rank of its first call. */
interface RankedLine {
  readonly calls: { readonly firstRank: Rank | undefined };
}

/** Lines that the same rule holds. */
interface NamedGate<Line> {
  readonly name: string;
  readonly lines: Ranking<Line>;
  /** Calls of its lines, and connects among them. */
  calls: number;
  connects: number;
  isOpen: boolean;
}

/** A gate exists while lines stand there, and is open at first. */
export class Gates<Line extends RankedLine> {
  readonly #gates = new Map<string, NamedGate<Line>>();
  /** By their first lines. */
  readonly #open = new Ranking<NamedGate<Line>>();
  /** By the instants at which they open; a gate that only a change opens isn't here. */
  readonly #closed = new Ranking<NamedGate<Line>>();
  /** Calls that nothing but the rate holds. */
  backlog = 0;
  /** Connects in the backlog. */
  connects = 0;

  /** The first line of all that stand at open gates. */
  get first(): Line | undefined {
    return this.#open.first?.lines.first;
  }

  /** When the next gate opens; infinite if only a change opens one. */
  get opensAt(): number {
    return this.#closed.lowest;
  }

  /** Puts the line at this gate, or where it belongs there after its first call has changed. */
  put(line: Line, name: string): void {
    let gate = this.#gates.get(name);
    if (gate === undefined) {
      gate = { name, lines: new Ranking<Line>(), calls: 0, connects: 0, isOpen: true };
      this.#gates.set(name, gate);
    }
    gate.lines.put(line, ...(line.calls.firstRank ?? []));
    if (gate.isOpen) this.#rank(gate);
  }

  /** Takes the line from this gate, if it stands there. */
  delete(line: Line, name: string): void {
    const gate = this.#gates.get(name);
    if (gate === undefined || !gate.lines.delete(line)) return;
    if (gate.lines.size === 0) {
      this.#open.delete(gate);
      this.#closed.delete(gate);
      this.#gates.delete(name);
    } else if (gate.isOpen) this.#rank(gate);
  }

  /** Counts calls, and connects among them, that joined lines at this gate, or left if negative. */
  count(name: string, calls: number, connects: number): void {
    const gate = this.#gates.get(name);
    if (gate === undefined) return;
    gate.calls += calls;
    gate.connects += connects;
    if (gate.isOpen || name === SHORTAGE) this.#add(calls, connects);
  }

  /** Closes the gate until this instant; until it is opened, if that is infinite. */
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

  /** Opens the gates that were closed until now at the latest. */
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
