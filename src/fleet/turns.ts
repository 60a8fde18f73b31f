/** One that takes turns: told to begin, and how to say that its turn is over. */
export interface TurnTaker {
  beginTurn(onOver: () => void): void;
}

/** Lets many take turns at few places: whoever waited longest is next. */
export class Turns {
  #places = 0;
  #waiting = new Set<TurnTaker>();
  #taking = new Set<TurnTaker>();

  /** Has it its turn now? */
  has(taker: TurnTaker): boolean {
    return this.#taking.has(taker);
  }

  /**
   * Takes on who takes turns, and at how many places. Those who are having their turn go on with it; those who are new wait
   * behind the others, in the order given. Free places are taken by `beginNext`.
   */
  plan(takers: readonly TurnTaker[], places: number): void {
    const wanted = new Set(takers);
    this.#waiting = new Set([...this.#waiting].filter((taker) => wanted.has(taker)));
    this.#taking = new Set([...this.#taking].filter((taker) => wanted.has(taker)));
    for (const taker of takers) if (!this.#taking.has(taker)) this.#waiting.add(taker);
    this.#places = places;
  }

  /** Begins one turn more; false where no place is free or nobody waits. */
  beginNext(): boolean {
    if (this.#taking.size >= this.#places) return false;
    const [next] = this.#waiting;
    if (next === undefined) return false;
    this.#waiting.delete(next);
    this.#taking.add(next);
    next.beginTurn(() => this.#over(next));
    return true;
  }

  #over(taker: TurnTaker): void {
    if (!this.#taking.delete(taker)) return;
    this.#waiting.add(taker);
    this.beginNext();
  }
}
