import type { LiveServer } from '../data/live-server.ts';
import { element, setAttribute } from './dom.ts';
import { keyOf, type LiveFleet } from './live-fleet.ts';
import { ServerRow } from './row.ts';

/** Rows drawn above and below the viewport, so that scrolling shows no blanks. */
const OVERSCAN = 8;

/** Why the servers have another order: the user chose it, or values changed. */
export type OrderCause = 'chosen' | 'settled';

/** The elements and callbacks that the table needs. */
interface TableOptions {
  readonly head: HTMLTableSectionElement;
  /** The element shown below an open row. */
  readonly details: HTMLElement;
  /** Called when the user opens this server's row, or closes the open one. */
  readonly opened: (server: LiveServer | undefined) => void;
}

/**
 * The table of servers. Only rows in view are in the document; the space above and below is filled by two rows of the right
 * height.
 */
export class ServerTable {
  readonly element = element('table', 'servers');
  readonly #options: TableOptions;
  readonly #body = element('tbody');
  readonly #above = gap();
  readonly #below = gap();
  readonly #details: HTMLTableRowElement;
  readonly #rows = new Map<LiveServer, ServerRow>();
  readonly #spare: ServerRow[] = [];
  #fleet: LiveFleet | undefined;
  #order: readonly LiveServer[] = [];
  /** The tops of the rows as drawn, and the end of the last. */
  #tops: readonly number[] = [0];
  #open: LiveServer | undefined;
  /** The server that has the keyboard focus. */
  #active: LiveServer | undefined;

  constructor(options: TableOptions) {
    this.#options = options;
    // The only table role that supports expandable rows.
    this.element.setAttribute('role', 'treegrid');
    this.element.ariaLabel = 'Servers';
    this.#body.setAttribute('role', 'rowgroup');
    const cell = element('td', '', options.details);
    cell.setAttribute('role', 'gridcell');
    this.#details = element('tr', 'details', cell);
    this.#details.setAttribute('role', 'row');
    this.#details.ariaLevel = '2';
    this.element.append(options.head, this.#body);
    this.#body.append(this.#above, this.#below);
    this.#body.addEventListener('click', (event) => this.#onClick(event));
    this.#body.addEventListener('keydown', (event) => this.#onKey(event));
    new ResizeObserver(() => this.render()).observe(this.#details);
    window.addEventListener('scroll', () => this.render(), { passive: true });
    window.addEventListener('resize', () => this.render());
  }

  get open(): LiveServer | undefined {
    return this.#open;
  }

  /**
   * Shows these servers of a fleet in this order. Unless the user chose the order, the open row keeps its place on the
   * screen.
   */
  show(fleet: LiveFleet, order: readonly LiveServer[], cause: OrderCause): void {
    const isSame = fleet === this.#fleet;
    const shift = isSame && cause === 'settled' ? this.#shiftOfOpen(order) : 0;
    if (!isSame) this.#adopt(fleet);
    this.#order = order;
    this.element.hidden = order.length === 0;
    setAttribute(this.element, 'aria-rowcount', String(order.length + 1));
    this.render();
    if (shift !== 0) window.scrollBy(0, shift);
  }

  /** Continues with the servers of another fleet; a server that remains keeps its row, and thus the keyboard focus. */
  #adopt(fleet: LiveFleet): void {
    this.#fleet = fleet;
    const successor = (server: LiveServer | undefined) => server && fleet.find(keyOf(server));
    this.#active = successor(this.#active);
    this.#open = successor(this.#open);
    const rows = [...this.#rows];
    this.#rows.clear();
    for (const [server, row] of rows) {
      const next = successor(server);
      if (next === undefined) row.element.remove();
      else this.#rows.set(next, row);
    }
  }

  /** How far another order moves the open row, in pixels; 0 if it isn't in view. */
  #shiftOfOpen(order: readonly LiveServer[]): number {
    if (this.#open === undefined) return 0;
    const [from, to] = [this.#order.indexOf(this.#open), order.indexOf(this.#open)];
    if (from < 0 || to < 0) return 0;
    const shift = topAt(this.#topsOf(order), to) - topAt(this.#tops, from);
    const bodyTop = this.#body.getBoundingClientRect().top;
    const [top, end] = [bodyTop + topAt(this.#tops, from), bodyTop + topAt(this.#tops, from + 1)];
    const isInView = top < window.innerHeight && end + this.#details.offsetHeight > 0;
    return isInView ? shift : 0;
  }

  /** Opens a server's row, and closes any other; undefined only closes. */
  setOpen(server: LiveServer | undefined): void {
    if (server === this.#open) return;
    this.#open = server;
    this.render();
  }

  /** Scrolls to the open row. */
  reveal(): void {
    const at = this.#open === undefined ? -1 : this.#order.indexOf(this.#open);
    if (at >= 0) this.#bringIntoView(at);
  }

  /** Moves the keyboard focus to the first row. */
  focusFirst(): void {
    this.#focus(0);
  }

  /** Updates the rows in view with what changed. */
  render(): void {
    const fleet = this.#fleet;
    if (fleet === undefined || !this.element.isConnected) return;
    this.#spanColumns();
    this.#tops = this.#topsOf(this.#order);
    const openAt = this.#open === undefined ? -1 : this.#order.indexOf(this.#open);
    const detailHeight = openAt < 0 ? 0 : this.#details.offsetHeight;
    const [first, end] = this.#range(openAt, detailHeight);
    const servers = this.#order.slice(first, end);
    const isOpenShown = openAt >= first && openAt < end;
    const hiddenAbove = openAt >= 0 && openAt < first ? detailHeight : 0;
    const hiddenBelow = openAt >= end ? detailHeight : 0;
    setHeight(this.#above, topAt(this.#tops, first) + hiddenAbove);
    const below = topAt(this.#tops, this.#order.length) - topAt(this.#tops, end);
    setHeight(this.#below, below + hiddenBelow);
    this.#place(servers, isOpenShown ? this.#open : undefined);
    for (const [index, server] of servers.entries()) this.#showRow(fleet, server, first + index);
  }

  /** A cell over more columns than are displayed adds empty ones, which take space from the others. */
  #spanColumns(): void {
    const heads = this.#options.head.querySelectorAll('th');
    const displayed = [...heads].filter((head) => getComputedStyle(head).display !== 'none').length;
    for (const row of [this.#above, this.#below, this.#details]) {
      const [cell] = row.cells;
      if (cell !== undefined && cell.colSpan !== displayed) cell.colSpan = Math.max(1, displayed);
    }
  }

  /** The tops of the rows in this order, in pixels below the first one's and without details, and the end of the last. */
  #topsOf(order: readonly LiveServer[]): readonly number[] {
    const [plain, troubled] = [this.#height('--row-height'), this.#height('--troubled-height')];
    const tops = [0];
    for (const server of order) {
      const height = this.#fleet?.isTroubled(server) === true ? troubled : plain;
      tops.push(topAt(tops, tops.length - 1) + height);
    }
    return tops;
  }

  #height(property: '--row-height' | '--troubled-height'): number {
    return Number.parseFloat(getComputedStyle(this.element).getPropertyValue(property)) || 56;
  }

  /** The indices of the first drawn row and of the one after the last. */
  #range(openAt: number, detailHeight: number): readonly [number, number] {
    const top = -this.#body.getBoundingClientRect().top;
    const lastAbove = (y: number) => this.#tops.findLastIndex((rowTop) => rowTop <= y);
    const placeAt = (y: number) => {
      const openEnd = openAt < 0 ? Number.POSITIVE_INFINITY : topAt(this.#tops, openAt + 1);
      return y <= openEnd ? lastAbove(y) : Math.max(openAt, lastAbove(y - detailHeight));
    };
    const first = Math.max(0, placeAt(top) - OVERSCAN);
    const end = placeAt(top + window.innerHeight) + 1 + OVERSCAN;
    const count = this.#order.length;
    return [Math.min(first, Math.max(0, count - 1)), Math.min(count, Math.max(0, end))];
  }

  /** Makes the document contain exactly these servers' rows, in this order. */
  #place(servers: readonly LiveServer[], open: LiveServer | undefined): void {
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
    const focused = document.activeElement;
    if (open === undefined) this.#details.remove();
    next = this.#above.nextElementSibling;
    for (const server of servers) {
      put(this.#rowOf(server).element);
      if (server === open) put(this.#details);
    }
    // Moving a row loses the keyboard focus.
    const isLost =
      focused !== document.activeElement && focused instanceof HTMLElement && focused.isConnected;
    if (isLost) focused.focus({ preventScroll: true });
  }

  #rowOf(server: LiveServer): ServerRow {
    const row = this.#rows.get(server) ?? this.#spare.pop() ?? new ServerRow();
    this.#rows.set(server, row);
    return row;
  }

  #showRow(fleet: LiveFleet, server: LiveServer, place: number): void {
    const row = this.#rowOf(server);
    row.show(fleet, server);
    setAttribute(row.element, 'aria-rowindex', String(place + 2));
    setAttribute(row.element, 'aria-expanded', String(server === this.#open));
    const isActive = this.#active === undefined ? place === 0 : server === this.#active;
    row.element.tabIndex = isActive ? 0 : -1;
  }

  #onClick({ target }: MouseEvent): void {
    const server = this.#serverAt(target);
    if (server === undefined || String(getSelection()) !== '') return;
    this.#active = server;
    this.#toggle(server);
  }

  #toggle(server: LiveServer): void {
    this.#options.opened(server === this.#open ? undefined : server);
  }

  #onKey(event: KeyboardEvent): void {
    const server = this.#serverAt(event.target);
    if (server === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = this.#order.indexOf(server);
    const page = Math.max(1, Math.floor(window.innerHeight / this.#height('--row-height')) - 3);
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
    else if (event.key === 'Enter' || event.key === ' ') this.#toggle(server);
    else if (event.key === 'ArrowRight') this.#options.opened(server);
    else if (event.key === 'ArrowLeft' && server === this.#open) this.#options.opened(undefined);
    else if (event.key === 'Escape' && this.#open !== undefined) this.#options.opened(undefined);
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

  /** Scrolls as little as needed, and keeps the row clear of the sticky head. */
  #bringIntoView(place: number): void {
    const openAt = this.#open === undefined ? -1 : this.#order.indexOf(this.#open);
    const detailHeight = openAt >= 0 && openAt < place ? this.#details.offsetHeight : 0;
    const bodyTop = this.#body.getBoundingClientRect().top + detailHeight;
    const [top, end] = [bodyTop + topAt(this.#tops, place), bodyTop + topAt(this.#tops, place + 1)];
    const head = this.#options.head.offsetHeight;
    if (top < head) window.scrollBy(0, top - head);
    else if (end > window.innerHeight) window.scrollBy(0, end - window.innerHeight);
  }

  #serverAt(target: EventTarget | null): LiveServer | undefined {
    const at = target instanceof Element ? target.closest('tr.server') : null;
    for (const [server, row] of this.#rows) if (row.element === at) return server;
    return undefined;
  }
}

function topAt(tops: readonly number[], place: number): number {
  return tops[place] ?? 0;
}

function gap(): HTMLTableRowElement {
  const row = element('tr', 'gap', element('td'));
  row.ariaHidden = 'true';
  return row;
}

function setHeight(row: HTMLTableRowElement, pixels: number): void {
  const height = `${pixels}px`;
  const [cell] = row.cells;
  if (cell !== undefined && cell.style.height !== height) cell.style.height = height;
  row.hidden = pixels <= 0;
}
