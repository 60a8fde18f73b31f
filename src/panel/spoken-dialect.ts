/** The dialect that a panel speaks, according to its setting, its key and its responses. */
import { EventEmitter } from 'node:events';
import type { Dialect, PanelAnswerText } from './dialect.ts';
import { DEFAULT_DIALECT, DIALECTS, otherDialect } from './dialects/dialects.ts';
import type { DialectName } from './dialects/facts.ts';
import type { SocketCodec } from './socket-codec.ts';

/** The setting `panel`, and how to get the key that is used at the time. */
export interface DialectSigns {
  /** Decides, whatever the panel responds. */
  readonly kind?: DialectName | undefined;
  readonly apiKey: () => string;
}

/** Sessions, calls and the rate limit of a panel share one. */
export class SpokenDialect {
  /** Emits the dialect once a response has proved that it is another one. */
  readonly events = new EventEmitter<{ recognized: [Dialect] }>();
  readonly #signs: DialectSigns;
  #key: string | undefined;
  #current: Dialect = DEFAULT_DIALECT;
  /** No response changes the dialect until the key changes. */
  #isCertain = false;

  constructor(signs: DialectSigns) {
    this.#signs = signs;
  }

  /** Another key may belong to another panel at the same address. */
  get current(): Dialect {
    const key = this.#signs.apiKey();
    if (key !== this.#key) {
      this.#key = key;
      const configured = DIALECTS.find(({ name }) => name === this.#signs.kind);
      this.#current = configured ?? dialectWithKey(key) ?? DEFAULT_DIALECT;
      this.#isCertain = configured !== undefined;
    }
    return this.#current;
  }

  /** The messages on its sockets, in the dialect of the last call. Read for every frame. */
  get codec(): SocketCodec {
    return this.#current.socket;
  }

  /** The dialect of this response, if it is another one than before. */
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

/** The dialect of the panels whose keys begin like this one. */
function dialectWithKey(key: string): Dialect | undefined {
  return DIALECTS.find(({ keys: { client = [], either = [] } }) =>
    [...client, ...either].some((prefix) => key.startsWith(prefix)),
  );
}
