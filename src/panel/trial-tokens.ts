// The room for trials that request a new token.

/**
 * Limits the token calls of trials to those that may start now. Other trials use their present
 * token: most nodes need no new one, and the calls would delay the trials of other nodes.
 */
export class TrialTokens {
  readonly #room: () => number;
  #calls = 0;

  /** `room` returns how many calls of trials may start now. */
  constructor(room: () => number) {
    this.#room = room;
  }

  get hasRoom(): boolean {
    return this.#calls < this.#room();
  }

  /** A trial requests a token. */
  asked(): void {
    this.#calls += 1;
  }

  /** The call that such a trial made has ended, or was withdrawn. */
  ended(): void {
    this.#calls -= 1;
  }
}
