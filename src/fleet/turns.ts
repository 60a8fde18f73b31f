/** One that takes turns: told to begin, and how to say that its turn is over. */
export interface TurnTaker {
  beginTurn(onOver: () => void): void;
}

/** Lets many take turns at few places: whoever waited longest is next. */
export class Turns {
  #places = 0;
  #waiting: TurnTaker[] = [];
  #taking = new Set<TurnTaker>();

  /** Has it its turn now? */
  has(taker: TurnTaker): boolean {
    return this.#taking.has(taker);
  }

  /**
   * Takes on who takes turns, and at how many places. Those who are having their turn go on with it; those who are new wait
   * behind the others, in the order given.
   */
  plan(takers: readonly TurnTaker[], places: number): void {
    const wanted = new Set(takers);
    const waiting = new Set(this.#waiting.filter((taker) => wanted.has(taker)));
    this.#taking = new Set([...this.#taking].filter((taker) => wanted.has(taker)));
    for (const taker of takers) if (!this.#taking.has(taker)) waiting.add(taker);
    this.#waiting = [...waiting];
    this.#places = places;
    this.#fill();
  }

  #fill(): void {
    while (this.#taking.size < this.#places) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#taking.add(next);
      next.beginTurn(() => this.#over(next));
    }
  }

  #over(taker: TurnTaker): void {
    if (!this.#taking.delete(taker)) return;
    this.#waiting.push(taker);
    this.#fill();
  }
}
