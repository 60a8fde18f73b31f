import { element, setAttribute } from './dom.ts';
import { NUMBER_KEYS, type Sorting, type SortKey } from './order.ts';

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
