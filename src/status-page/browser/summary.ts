import { CONDITIONS } from '../../domain/reading.ts';
import { SERVER_STATES } from '../../domain/server.ts';
import { ATTENTION, type Attention } from '../data/attention.ts';
import { conditionTitle, stateTitle } from '../data/words.ts';
import { element, setAttribute, setText } from './dom.ts';
import type { LiveFleet } from './live-fleet.ts';
import type { Filter } from './view.ts';

/** Shown even if they are 0; others only if there are any. */
const ALWAYS: ReadonlySet<string> = new Set(['attention:any', 'state:running', 'state:offline']);

const ATTENTION_TITLES: Readonly<Record<Attention, string>> = {
  crashed: 'crashed',
  gave_up: 'restart aborted',
  crash_loop: 'crash loop',
  off: 'off, expected to run',
  no_data: 'without data',
  not_answering: 'not answering',
  cpu_saturated: 'CPU at limit',
  disk_nearly_full: 'disk nearly full',
};

interface Tile {
  readonly filter: Filter;
  readonly button: HTMLButtonElement;
  readonly count: HTMLElement;
  readonly title: HTMLElement;
}

type Kind = 'attention' | 'state' | 'condition';

/** How many servers need attention and why, and how many are in each state and condition; each count filters the table. */
export class Summary {
  readonly element = element('section', 'summary');
  readonly #total = element('strong');
  readonly #all = element('button', 'total', this.#total, element('span', '', 'servers'));
  readonly #tiles = new Map<string, Tile>();
  readonly #groups: Readonly<Record<Kind, HTMLElement>> = {
    attention: tileGroup('Needs attention'),
    state: tileGroup('State'),
    condition: tileGroup('Condition'),
  };
  readonly #onFilter: (filter: Filter | undefined) => void;
  #filter: Filter | undefined;

  constructor(onFilter: (filter: Filter | undefined) => void) {
    this.#onFilter = onFilter;
    this.element.ariaLabel = 'Summary';
    this.#all.type = 'button';
    this.#all.addEventListener('click', () => onFilter(undefined));
    const { attention, state, condition } = this.#groups;
    this.#showTile({ kind: 'attention', word: 'any' }, 0);
    this.element.append(this.#all, attention, state, condition);
  }

  show(fleet: LiveFleet): void {
    const { servers } = fleet;
    setText(this.#total, String(servers.length));
    const states = countsOf(servers.map(({ state }) => state));
    const attention = this.#showTiles(
      'attention',
      ATTENTION,
      countsOf(servers.map((server) => server.attention)),
    );
    this.#showTile({ kind: 'attention', word: 'any' }, attention);
    this.#showTiles('state', SERVER_STATES, states);
    const conditions = countsOf(servers.map(({ condition }) => condition));
    this.#showTiles('condition', CONDITIONS, conditions);
    // That all servers stream is no news.
    this.#groups.condition.hidden = conditions.get('streaming') === servers.length;
    const running = states.get('running') ?? 0;
    const title = `${running}/${servers.length} running · gameserver-exporter`;
    document.title = attention === 0 ? title : `(${attention}) ${title}`;
  }

  /** Highlights the count that the table is filtered by. */
  choose(filter: Filter | undefined): void {
    this.#filter = filter;
    this.#all.ariaPressed = String(filter === undefined);
    for (const { filter: own, button } of this.#tiles.values())
      button.ariaPressed = String(isSame(own, filter));
  }

  /** Shows a tile for each word, and returns the sum of their counts. */
  #showTiles(kind: Kind, words: readonly string[], counts: ReadonlyMap<string | undefined, number>): number {
    let sum = 0;
    for (const word of words) {
      const amount = counts.get(word) ?? 0;
      this.#showTile({ kind, word }, amount);
      sum += amount;
    }
    return sum;
  }

  #showTile(filter: Filter & { readonly kind: Kind }, amount: number): void {
    const key = `${filter.kind}:${filter.word}`;
    let tile = this.#tiles.get(key);
    // A tile that isn't always shown is created when it is first needed.
    if (tile === undefined) {
      tile = this.#tileOf(filter);
      this.#tiles.set(key, tile);
      this.#groups[filter.kind].append(tile.button);
    }
    setText(tile.count, String(amount));
    setText(tile.title, titleOf(filter, amount));
    tile.button.hidden = amount === 0 && !ALWAYS.has(key) && !isSame(filter, this.#filter);
    setAttribute(tile.button, 'data-none', amount === 0 ? '' : undefined);
  }

  #tileOf(filter: Filter): Tile {
    const { kind, word } = filter;
    const count = element('b');
    const title = element('span');
    const button = element('button', 'tile', count, title);
    button.type = 'button';
    button.dataset[kind] = word;
    button.ariaPressed = String(isSame(filter, this.#filter));
    button.addEventListener('click', () => this.#onFilter(isSame(filter, this.#filter) ? undefined : filter));
    return { filter, button, count, title };
  }
}

function countsOf(words: readonly (string | undefined)[]): ReadonlyMap<string | undefined, number> {
  const counts = new Map<string | undefined, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

function titleOf({ kind, word }: Filter, amount: number): string {
  if (kind === 'state') return stateTitle(word);
  if (kind === 'condition') return conditionTitle(word);
  const attention = ATTENTION.find((name) => name === word);
  if (attention !== undefined) return ATTENTION_TITLES[attention];
  return amount === 1 ? 'needs attention' : 'need attention';
}

function isSame(one: Filter, other: Filter | undefined): boolean {
  return one.kind === other?.kind && one.word === other.word;
}

function tileGroup(label: string): HTMLElement {
  const group = element('div', 'tiles');
  group.setAttribute('role', 'group');
  group.ariaLabel = label;
  return group;
}
