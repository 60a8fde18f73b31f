import { element, setAttribute } from './dom.ts';
import { SORT_KEYS, type Sorting, type SortKey } from './order.ts';

/** The columns, in their order. */
const TITLES: Readonly<Record<SortKey, string>> = {
  name: 'Server',
  state: 'State',
  cpu: 'CPU',
  memory: 'Memory',
  disk: 'Disk',
  network: 'Network',
  age: 'Sample',
  trouble: 'Last trouble',
};

/** Columns of which the highest are wanted first. */
const HIGHEST_FIRST: ReadonlySet<SortKey> = new Set(['cpu', 'memory', 'disk', 'network', 'age']);

/** The sorting after a column was chosen: first its own way, then the other, then none. */
export function nextSorting(now: Sorting | undefined, key: SortKey): Sorting | undefined {
  const first = HIGHEST_FIRST.has(key);
  if (now?.key !== key) return { key, isDescending: first };
  return now.isDescending === first ? { key, isDescending: !first } : undefined;
}

/** The table's head, and the same as a list to choose from where the table has no head: on a phone. */
export class Heading {
  readonly head = element('thead');
  readonly choice = element('select', 'sort');
  readonly #cells = new Map<SortKey, HTMLTableCellElement>();

  constructor(onChoice: (sorting: Sorting | undefined) => void) {
    const row = element('tr');
    row.setAttribute('role', 'row');
    let sorting: Sorting | undefined;
    const choose = (next: Sorting | undefined) => {
      sorting = next;
      this.#show(next);
      onChoice(next);
    };
    this.choice.append(new Option('Sort: as configured', ''));
    for (const key of SORT_KEYS) {
      const button = element('button', '', TITLES[key]);
      button.type = 'button';
      button.addEventListener('click', () => choose(nextSorting(sorting, key)));
      const cell = element('th', key, button);
      cell.setAttribute('role', 'columnheader');
      cell.scope = 'col';
      this.#cells.set(key, cell);
      row.append(cell);
      this.choice.append(new Option(`Sort: ${TITLES[key].toLowerCase()}`, key));
    }
    this.choice.ariaLabel = 'Sort';
    this.choice.addEventListener('change', () => {
      const key = SORT_KEYS.find((name) => name === this.choice.value);
      choose(key === undefined ? undefined : nextSorting(undefined, key));
    });
    this.head.append(row);
  }

  #show(sorting: Sorting | undefined): void {
    this.choice.value = sorting?.key ?? '';
    for (const [key, cell] of this.#cells) {
      const way = sorting?.isDescending === true ? 'descending' : 'ascending';
      setAttribute(cell, 'aria-sort', sorting?.key === key ? way : undefined);
    }
  }
}
