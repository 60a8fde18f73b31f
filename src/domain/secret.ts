import { KNOWN_SECRETS, REDACTED } from './known-secrets.ts';

/**
 * A text that only `reveal` discloses; printing, logging or serializing it gives `<secret>`. It becomes a known secret, so it is
 * redacted wherever it is repeated.
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
    return REDACTED;
  }

  toJSON(): string {
    return REDACTED;
  }

  // Used by Node's console and pino's error serializer; the symbol is looked up by name so that the domain imports nothing.
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return REDACTED;
  }
}
