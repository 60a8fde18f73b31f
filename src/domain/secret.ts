import { KNOWN_SECRETS } from './known-secrets.ts';

const SHOWN = '<secret>';

/**
 * A text that only `reveal` gives away; printing, logging or serialising it gives `<secret>`. It is a known secret from then on:
 * whoever repeats it finds it struck out of what is shown.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
    KNOWN_SECRETS.add(value);
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return SHOWN;
  }

  toJSON(): string {
    return SHOWN;
  }

  // What Node's console and pino's error serialiser print; the symbol is looked up by name so that the
  // domain imports nothing.
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return SHOWN;
  }
}
