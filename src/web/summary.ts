import { element, setAttribute, setText } from './dom.ts';
import { type Fleet, isDown } from './fleet.ts';
import { conditionTitle, stateTitle } from './words.ts';

/** What the table is narrowed to by a count of the summary. */
export interface Filter {
  readonly kind: 'state' | 'condition';
  readonly word: string;
}

/** Always shown, be they 0; others only when there are some. */
const ALWAYS: ReadonlySet<string> = new Set(['running', 'offline', 'streaming', 'polling', 'blocked']);

/** How many servers are in each state, and how they are observed; each count narrows the table to those servers. */
export class Summary {
  readonly element = element('section', 'summary');
  readonly #total = element('strong');
  readonly #tiles = new Map<string, { readonly button: HTMLButtonElement; readonly count: HTMLElement }>();
  readonly #groups = {
    state: element('div', 'tiles'),
    condition: element('div', 'tiles'),
  };
  readonly #onFilter: (filter: Filter | undefined) => void;
  #filter: Filter | undefined;

  constructor(onFilter: (filter: Filter | undefined) => void) {
    this.#onFilter = onFilter;
    this.element.ariaLabel = 'Summary';
    const total = element('p', 'total', this.#total, element('span', '', 'servers'));
    this.element.append(total, this.#groups.state, this.#groups.condition);
  }

  show(fleet: Fleet): void {
    const { states, conditions } = fleet.full.words;
    setText(this.#total, String(fleet.size));
    const counts = { state: new Map<string, number>(), condition: new Map<string, number>() };
    let down = 0;
    for (let server = 0; server < fleet.size; server += 1) {
      if (isDown(fleet, server)) down += 1;
      count(counts.state, fleet.state(server));
      count(counts.condition, fleet.condition(server));
    }
    for (const word of states) this.#showTile('state', word, counts.state.get(word) ?? 0);
    for (const word of conditions) this.#showTile('condition', word, counts.condition.get(word) ?? 0);
    setAttribute(this.#tileOf('state', 'offline').button, 'data-bad', down > 0 ? '' : undefined);
    document.title = `${counts.state.get('running') ?? 0}/${fleet.size} running · gameserver-exporter`;
  }

  #showTile(kind: Filter['kind'], word: string, amount: number): void {
    const { button, count } = this.#tileOf(kind, word);
    setText(count, String(amount));
    button.hidden = amount === 0 && !ALWAYS.has(word) && this.#filter?.word !== word;
    setAttribute(button, 'data-none', amount === 0 ? '' : undefined);
  }

  #tileOf(kind: Filter['kind'], word: string) {
    const found = this.#tiles.get(word);
    if (found !== undefined) return found;
    const title = kind === 'state' ? stateTitle : conditionTitle;
    const count = element('b');
    const button = element('button', 'tile', count, element('span', '', title(word)));
    button.type = 'button';
    button.dataset[kind] = word;
    button.ariaPressed = 'false';
    button.addEventListener('click', () => this.#choose({ kind, word }));
    this.#groups[kind].append(button);
    const tile = { button, count };
    this.#tiles.set(word, tile);
    return tile;
  }

  #choose(filter: Filter): void {
    this.#filter = this.#filter?.word === filter.word ? undefined : filter;
    for (const [word, { button }] of this.#tiles) button.ariaPressed = String(word === this.#filter?.word);
    this.#onFilter(this.#filter);
  }
}

function count(counts: Map<string, number>, word: string): void {
  counts.set(word, (counts.get(word) ?? 0) + 1);
}
