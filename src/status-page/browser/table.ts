import { element, setAttribute } from './dom.ts';
import type { LiveFleet } from './live-fleet.ts';
import { SORT_KEYS, type Sorting, type SortKey } from './order.ts';
import { ServerRow } from './row.ts';

/** Rows that are drawn above and below what is seen, so that scrolling meets no blank. */
const OVERSCAN = 8;

const COLUMN_COUNT = 8;

/** What the table asks for and tells. */
interface TableOptions {
  readonly head: HTMLTableSectionElement;
  /** Draws what belongs below an open row. */
  readonly details: HTMLElement;
  readonly opened: (server: number | undefined) => void;
  /** The servers whose rows are drawn, whenever these change. */
  readonly shown: (servers: readonly number[]) => void;
  readonly sparkOf: (server: number) => readonly number[] | undefined;
}

/** The table of servers. Only rows in view are in the document; what is above and below are two rows of the right height. */
export class ServerTable {
  readonly element = element('table', 'servers');
  readonly #options: TableOptions;
  readonly #body = element('tbody');
  readonly #above = gap();
  readonly #below = gap();
  readonly #details: HTMLTableRowElement;
  readonly #rows = new Map<number, ServerRow>();
  readonly #spare: ServerRow[] = [];
  #fleet: LiveFleet | undefined;
  #order: readonly number[] = [];
  #open: number | undefined;
  /** The server that the keyboard is at. */
  #active: number | undefined;
  #shownText = '';

  constructor(options: TableOptions) {
    this.#options = options;
    this.element.setAttribute('role', 'table');
    this.element.ariaLabel = 'Servers';
    const cell = element('td', '', options.details);
    cell.colSpan = COLUMN_COUNT;
    this.#details = element('tr', 'details', cell);
    this.element.append(options.head, this.#body);
    this.#body.append(this.#above, this.#below);
    this.#body.addEventListener('click', (event) => this.#onClick(event));
    this.#body.addEventListener('keydown', (event) => this.#onKey(event));
    new ResizeObserver(() => this.render()).observe(this.#details);
    window.addEventListener('scroll', () => this.render(), { passive: true });
    window.addEventListener('resize', () => this.render());
  }

  get open(): number | undefined {
    return this.#open;
  }

  /** Shows these servers of a fleet in this order. */
  show(fleet: LiveFleet, order: readonly number[]): void {
    if (fleet !== this.#fleet) {
      this.#fleet = fleet;
      this.#active = undefined;
      for (const row of this.#rows.values()) row.server = -1;
    }
    this.#order = order;
    setAttribute(this.element, 'aria-rowcount', String(order.length + 1));
    this.render();
  }

  /** Opens a server's row, and closes what was open. */
  toggle(server: number | undefined): void {
    this.#open = server === this.#open ? undefined : server;
    this.#options.opened(this.#open);
    this.render();
  }

  /** Moves the keyboard to the first row. */
  focusFirst(): void {
    this.#focus(0);
  }

  /** Writes what changed into the rows in view. */
  render(): void {
    const fleet = this.#fleet;
    if (fleet === undefined || !this.element.isConnected) return;
    const height = this.#rowHeight();
    const openAt = this.#open === undefined ? -1 : this.#order.indexOf(this.#open);
    const detailHeight = openAt < 0 ? 0 : this.#details.offsetHeight;
    const [first, end] = this.#range(height, openAt, detailHeight);
    const servers = this.#order.slice(first, end);
    const isOpenShown = openAt >= first && openAt < end;
    const hiddenAbove = openAt >= 0 && openAt < first ? detailHeight : 0;
    const hiddenBelow = openAt >= end ? detailHeight : 0;
    setHeight(this.#above, first * height + hiddenAbove);
    setHeight(this.#below, (this.#order.length - end) * height + hiddenBelow);
    this.#place(servers, isOpenShown ? this.#open : undefined);
    for (const [index, server] of servers.entries()) this.#showRow(fleet, server, first + index);
    const text = servers.join();
    if (text === this.#shownText) return;
    this.#shownText = text;
    this.#options.shown(servers);
  }

  #rowHeight(): number {
    return Number.parseFloat(getComputedStyle(this.element).getPropertyValue('--row-height')) || 56;
  }

  /** Places in the order: from the first that is drawn to the one after the last. */
  #range(height: number, openAt: number, detailHeight: number): readonly [number, number] {
    const top = -this.#body.getBoundingClientRect().top;
    const placeAt = (y: number) => {
      const openEnd = openAt < 0 ? Number.POSITIVE_INFINITY : (openAt + 1) * height;
      if (y <= openEnd) return y / height;
      return Math.max(openAt, (y - detailHeight) / height);
    };
    const first = Math.max(0, Math.floor(placeAt(top)) - OVERSCAN);
    const end = Math.ceil(placeAt(top + window.innerHeight)) + OVERSCAN;
    const count = this.#order.length;
    return [Math.min(first, Math.max(0, count - 1)), Math.min(count, Math.max(0, end))];
  }

  /** Has exactly these servers' rows in the document, in this order. */
  #place(servers: readonly number[], open: number | undefined): void {
    const wanted = new Set(servers);
    for (const [server, row] of this.#rows) {
      if (wanted.has(server)) continue;
      this.#rows.delete(server);
      row.element.remove();
      this.#spare.push(row);
    }
    let next: Element | null = this.#above.nextElementSibling;
    const put = (node: Element) => {
      if (node === next) next = node.nextElementSibling;
      else this.#body.insertBefore(node, next);
    };
    if (open === undefined) this.#details.remove();
    next = this.#above.nextElementSibling;
    for (const server of servers) {
      put(this.#rowOf(server).element);
      if (server === open) put(this.#details);
    }
  }

  #rowOf(server: number): ServerRow {
    let row = this.#rows.get(server);
    if (row === undefined) {
      row = this.#spare.pop() ?? new ServerRow();
      row.server = -1;
      this.#rows.set(server, row);
    }
    return row;
  }

  #showRow(fleet: LiveFleet, server: number, place: number): void {
    const row = this.#rowOf(server);
    row.show(fleet, server);
    row.draw(this.#options.sparkOf(server) ?? []);
    setAttribute(row.element, 'aria-rowindex', String(place + 2));
    setAttribute(row.element, 'aria-expanded', String(server === this.#open));
    const isActive = this.#active === undefined ? place === 0 : server === this.#active;
    row.element.tabIndex = isActive ? 0 : -1;
  }

  #onClick({ target }: MouseEvent): void {
    const server = this.#serverAt(target);
    if (server === undefined || String(getSelection()) !== '') return;
    this.#active = server;
    this.toggle(server);
  }

  #onKey(event: KeyboardEvent): void {
    const server = this.#serverAt(event.target);
    if (server === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = this.#order.indexOf(server);
    const page = Math.max(1, Math.floor(window.innerHeight / this.#rowHeight()) - 3);
    const moves: Readonly<Record<string, number>> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      PageDown: at + page,
      PageUp: at - page,
      Home: 0,
      End: this.#order.length - 1,
    };
    const to = moves[event.key];
    if (to !== undefined) this.#focus(to);
    else if (event.key === 'Enter' || event.key === ' ') this.toggle(server);
    else if (event.key === 'Escape' && this.#open !== undefined) this.toggle(undefined);
    else return;
    event.preventDefault();
  }

  #focus(place: number): void {
    const at = Math.min(Math.max(0, place), this.#order.length - 1);
    const server = this.#order[at];
    if (server === undefined) return;
    this.#active = server;
    this.#bringIntoView(at);
    this.render();
    this.#rows.get(server)?.element.focus({ preventScroll: true });
  }

  /** Scrolls as little as needed; the head stays in view above the rows. */
  #bringIntoView(place: number): void {
    const height = this.#rowHeight();
    const openAt = this.#open === undefined ? -1 : this.#order.indexOf(this.#open);
    const detailHeight = openAt >= 0 && openAt < place ? this.#details.offsetHeight : 0;
    const top = this.#body.getBoundingClientRect().top + place * height + detailHeight;
    const head = this.#options.head.offsetHeight;
    if (top < head) window.scrollBy(0, top - head);
    else if (top + height > window.innerHeight) window.scrollBy(0, top + height - window.innerHeight);
  }

  #serverAt(target: EventTarget | null): number | undefined {
    const at = target instanceof Element ? target.closest('tr.server') : null;
    for (const [server, row] of this.#rows) if (row.element === at) return server;
    return undefined;
  }
}

function gap(): HTMLTableRowElement {
  const cell = element('td');
  cell.colSpan = COLUMN_COUNT;
  const row = element('tr', 'gap', cell);
  row.ariaHidden = 'true';
  return row;
}

function setHeight(row: HTMLTableRowElement, pixels: number): void {
  const height = `${pixels}px`;
  const [cell] = row.cells;
  if (cell !== undefined && cell.style.height !== height) cell.style.height = height;
  row.hidden = pixels <= 0;
}

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
function nextSorting(now: Sorting | undefined, key: SortKey): Sorting | undefined {
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
