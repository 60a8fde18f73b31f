import { CONDITIONS } from '../../domain/reading.ts';
import { SERVER_STATES } from '../../domain/server.ts';
import {
  ATTENTION,
  ATTENTION_GROUPS,
  ATTENTION_TROUBLES,
  type Attention,
  type AttentionGroup,
  groupOf,
} from '../data/attention.ts';
import { noticesOf } from '../data/notices.ts';
import { conditionTitle, stateTitle } from '../data/words.ts';
import { element, setAttribute, setText } from './dom.ts';
import { hasProblem, type LiveFleet } from './live-fleet.ts';
import { NUMBER_KEYS, type Sorting, type SortKey } from './order.ts';
import type { Filter } from './view.ts';

/** The table's columns in order, with the sort key of each. */
const COLUMNS = [
  ['name', 'Server'],
  ['state', 'State'],
  ['strip', 'Last two hours'],
  ['trouble', 'Problem'],
  ['cpu', 'CPU'],
  ['memory', 'Memory'],
  ['disk', 'Disk'],
  ['network', 'Network'],
  ['players', 'Players'],
] as const satisfies readonly (readonly [SortKey | 'strip', string])[];

type Column = (typeof COLUMNS)[number];

/** Columns that the table can be sorted by. */
const SORTED = COLUMNS.filter(
  (column): column is Exclude<Column, readonly ['strip', string]> => column[0] !== 'strip',
);

/** More sort keys, available from the list only. */
const MORE: readonly (readonly [SortKey, string])[] = [
  ['age', 'Age of sample'],
  ['panel', 'Panel'],
  ['node', 'Node'],
  ['egg', 'Egg'],
  ['labels', 'Labels'],
  ['condition', 'Condition'],
  ['uptime', 'Uptime'],
  ['starts', 'Starts'],
  ['crashes', 'Crashes'],
  ['stopped', 'Last stop'],
  ['backups', 'Backups'],
];

/** Keys that sort in descending order first. */
const HIGHEST_FIRST: ReadonlySet<SortKey> = new Set(NUMBER_KEYS.filter((key) => key !== 'state'));

/** The sorting after a column is chosen: first its default direction, then the other, then none. */
function nextSorting(now: Sorting | undefined, key: SortKey): Sorting | undefined {
  const first = HIGHEST_FIRST.has(key);
  if (now?.key !== key) return { key, isDescending: first };
  return now.isDescending === first ? { key, isDescending: !first } : undefined;
}

/** The table's head, and a list of all sort keys, which also works where the table has no head: on a phone. */
export class Heading {
  readonly head = element('thead');
  readonly choice = element('select', 'sort');
  readonly turn = element('button', 'turn');
  readonly #cells = new Map<SortKey, HTMLTableCellElement>();
  #sorting: Sorting | undefined;

  constructor(onChoice: (sorting: Sorting | undefined) => void) {
    const row = element('tr');
    row.setAttribute('role', 'row');
    this.head.setAttribute('role', 'rowgroup');
    for (const [key, title] of COLUMNS) {
      const cell = element('th', key);
      cell.setAttribute('role', 'columnheader');
      cell.scope = 'col';
      row.append(cell);
      if (key === 'strip') {
        cell.append(title);
        continue;
      }
      const button = element('button', '', title);
      button.type = 'button';
      button.addEventListener('click', () => onChoice(nextSorting(this.#sorting, key)));
      cell.append(button);
      this.#cells.set(key, cell);
    }
    this.choice.append(new Option('Sort: problems first', ''));
    for (const [key, title] of [...SORTED, ...MORE]) {
      this.choice.append(new Option(`Sort: ${title === 'CPU' ? title : title.toLowerCase()}`, key));
    }
    this.choice.ariaLabel = 'Sort';
    this.choice.addEventListener('change', () => {
      const key = [...SORTED, ...MORE].find(([name]) => name === this.choice.value)?.[0];
      onChoice(key === undefined ? undefined : nextSorting(undefined, key));
    });
    this.turn.type = 'button';
    this.turn.addEventListener('click', () => {
      const { key, isDescending } = this.#sorting ?? {};
      if (key !== undefined) onChoice({ key, isDescending: isDescending !== true });
    });
    this.head.append(row);
    this.show(undefined);
  }

  show(sorting: Sorting | undefined): void {
    this.#sorting = sorting;
    this.choice.value = sorting?.key ?? '';
    const way = sorting?.isDescending === true ? 'descending' : 'ascending';
    for (const [key, cell] of this.#cells) {
      setAttribute(cell, 'aria-sort', sorting?.key === key ? way : undefined);
    }
    this.turn.hidden = sorting === undefined;
    this.turn.textContent = way === 'ascending' ? '↑' : '↓';
    this.turn.ariaLabel = `Sorted ${way}; reverse the order`;
  }
}

const GROUP_TITLES: Readonly<Record<AttentionGroup, string>> = {
  down: 'down',
  no_data: 'no data',
  warning: 'warnings',
};

interface Tile {
  readonly filter: Filter;
  readonly button: HTMLButtonElement;
  readonly count: HTMLElement;
  readonly title: HTMLElement;
}

/** Buttons with counts of servers, each of which filters the table. */
class Tiles {
  readonly element: HTMLElement;
  readonly #tiles = new Map<string, Tile>();
  readonly #onFilter: (filter: Filter | undefined) => void;
  #filter: Filter | undefined;

  constructor(label: string, onFilter: (filter: Filter | undefined) => void) {
    this.#onFilter = onFilter;
    this.element = element('div', 'tiles');
    this.element.setAttribute('role', 'group');
    this.element.ariaLabel = label;
  }

  /** Shows a count; 0 is shown only while the table is filtered by it. */
  show(filter: Filter, amount: number, title: string): void {
    const key = `${filter.kind}:${filter.word}`;
    let tile = this.#tiles.get(key);
    if (tile === undefined) {
      tile = this.#tileOf(filter);
      this.#tiles.set(key, tile);
      this.element.append(tile.button);
    }
    setText(tile.count, String(amount));
    setText(tile.title, title);
    tile.button.hidden = amount === 0 && !isSame(filter, this.#filter);
  }

  /** Highlights the count that the table is filtered by. */
  choose(filter: Filter | undefined): void {
    this.#filter = filter;
    for (const { filter: own, button } of this.#tiles.values())
      button.ariaPressed = String(isSame(own, filter));
  }

  #tileOf(filter: Filter): Tile {
    const count = element('b');
    const title = element('span');
    const button = element('button', 'tile', count, title);
    button.type = 'button';
    button.dataset[filter.kind] = filter.word;
    button.ariaPressed = String(isSame(filter, this.#filter));
    button.addEventListener('click', () => this.#onFilter(isSame(filter, this.#filter) ? undefined : filter));
    return { filter, button, count, title };
  }
}

/** How many servers there are, run, are down or have warnings; `details` has all other counts. */
export class Summary {
  readonly element = element('section', 'summary');
  readonly details: HTMLElement;
  readonly #total = element('strong');
  readonly #all = element('button', 'total', this.#total, element('span', '', 'servers'));
  readonly #well = element('p', 'well', 'No problems');
  readonly #main: Tiles;
  readonly #problems: Tiles;
  readonly #states: Tiles;
  readonly #conditions: Tiles;

  constructor(onFilter: (filter: Filter | undefined) => void) {
    this.#main = new Tiles('Servers', onFilter);
    this.#problems = new Tiles('Problems', onFilter);
    this.#states = new Tiles('States', onFilter);
    this.#conditions = new Tiles('How they are monitored', onFilter);
    this.#all.type = 'button';
    this.#all.addEventListener('click', () => onFilter(undefined));
    this.element.ariaLabel = 'Summary';
    this.element.append(this.#all, this.#main.element, this.#well);
    this.details = element('div', 'counts', ...this.#groups.map((group) => group.element));
  }

  get #groups(): readonly Tiles[] {
    return [this.#problems, this.#states, this.#conditions];
  }

  show({ servers, panels }: LiveFleet): void {
    setText(this.#total, String(servers.length));
    const states = countsOf(servers.map(({ state }) => state));
    const reasons = countsOf(servers.map(({ attention }) => attention));
    const conditions = countsOf(servers.map(({ condition }) => condition));
    const running = states.get('running') ?? 0;
    const groups = groupCounts(reasons);
    const problems = servers.length - (reasons.get(undefined) ?? 0);
    this.#main.show({ kind: 'state', word: 'running' }, running, 'running');
    for (const group of ATTENTION_GROUPS) {
      const amount = groups.get(group) ?? 0;
      const title = group === 'warning' && amount === 1 ? 'warning' : GROUP_TITLES[group];
      this.#main.show({ kind: 'attention', word: group }, amount, title);
    }
    this.#well.hidden =
      servers.length === 0 || noticesOf(panels).length > 0 || servers.some((server) => hasProblem(server));
    this.#problems.show(
      { kind: 'attention', word: 'any' },
      problems,
      problems === 1 ? 'problem' : 'problems',
    );
    for (const word of ATTENTION) {
      this.#problems.show(
        { kind: 'attention', word },
        reasons.get(word) ?? 0,
        ATTENTION_TROUBLES[word].title,
      );
    }
    for (const word of SERVER_STATES)
      this.#states.show({ kind: 'state', word }, states.get(word) ?? 0, stateTitle(word));
    for (const word of CONDITIONS)
      this.#conditions.show({ kind: 'condition', word }, conditions.get(word) ?? 0, conditionTitle(word));
    const title = `${running}/${servers.length} running · gameserver-exporter`;
    document.title = problems === 0 ? title : `(${problems}) ${title}`;
  }

  choose(filter: Filter | undefined): void {
    this.#all.ariaPressed = String(filter === undefined);
    for (const group of [this.#main, ...this.#groups]) group.choose(filter);
  }
}

function groupCounts(
  reasons: ReadonlyMap<Attention | undefined, number>,
): ReadonlyMap<AttentionGroup, number> {
  const counts = new Map<AttentionGroup, number>();
  for (const [reason, count] of reasons) {
    if (reason === undefined) continue;
    const group = groupOf(reason);
    counts.set(group, (counts.get(group) ?? 0) + count);
  }
  return counts;
}

function countsOf<Word>(words: readonly Word[]): ReadonlyMap<Word, number> {
  const counts = new Map<Word, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

function isSame(one: Filter, other: Filter | undefined): boolean {
  return one.kind === other?.kind && one.word === other.word;
}
