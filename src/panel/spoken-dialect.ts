/** The dialect of a panel, from its setting, its key and its responses. */
import { EventEmitter } from 'node:events';
import type { Dialect, PanelAnswerText } from './dialect.ts';
import { DEFAULT_DIALECT, DIALECTS, otherDialect } from './dialects/dialects.ts';
import type { DialectName } from './dialects/facts.ts';
import type { SocketCodec } from './socket-codec.ts';

/** The setting `panel`, and a function that returns the current key. */
export interface DialectHints {
  /** If set, it is the dialect, whatever the panel responds. */
  readonly kind?: DialectName | undefined;
  readonly apiKey: () => string;
}

/** A panel's current dialect. Its sessions, calls and rate limit share this object. */
export class SpokenDialect {
  /** Emits the dialect once a response has shown that it is a different one. */
  readonly events = new EventEmitter<{ recognized: [Dialect] }>();
  readonly #hints: DialectHints;
  #key: string | undefined;
  #current: Dialect = DEFAULT_DIALECT;
  /** Whether responses can't change the dialect until the key changes. */
  #isCertain = false;

  constructor(hints: DialectHints) {
    this.#hints = hints;
  }

  /** The current dialect. A different key may belong to a different panel at the same address. */
  get current(): Dialect {
    const key = this.#hints.apiKey();
    if (key !== this.#key) {
      this.#key = key;
      const configured = DIALECTS.find(({ name }) => name === this.#hints.kind);
      this.#current = configured ?? dialectWithKey(key) ?? DEFAULT_DIALECT;
      this.#isCertain = configured !== undefined;
    }
    return this.#current;
  }

  /** The messages on the panel's sockets, in the dialect of the last call. Read for every frame. */
  get codec(): SocketCodec {
    return this.#current.socket;
  }

  /** The dialect of this response, if it differs from the previous one. */
  hears(answer: PanelAnswerText): Dialect | undefined {
    const { current } = this;
    if (this.#isCertain) return undefined;
    const other = otherDialect(current, answer);
    if (other === undefined) return undefined;
    this.#current = other;
    this.#isCertain = true;
    this.events.emit('recognized', other);
    return other;
  }
}

/** The dialect of panels whose keys have this key's prefix. */
function dialectWithKey(key: string): Dialect | undefined {
  return DIALECTS.find(({ keys: { client = [], either = [] } }) =>
    [...client, ...either].some((prefix) => key.startsWith(prefix)),
  );
}
