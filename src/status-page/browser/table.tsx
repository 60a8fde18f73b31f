import { Component, type JSX } from 'preact';
import { type Column, columnsOf, groupCells, levelOf } from './columns.tsx';
import { Details } from './details.tsx';
import { keyOf, type LiveFleet } from './live-fleet.ts';
import { isGroup, type Line, nextSorting, SORT_KEYS, SORTS, sortingOf } from './order.ts';
import type { Choice } from './view.ts';

function wayOf(sort: string): 'ascending' | 'descending' {
  return sortingOf(sort).isDescending ? 'descending' : 'ascending';
}

/** A list of all orders, which also works where the table has no head: on a phone. */
export function sortList({ view: { sort }, choose }: Choice): JSX.Element {
  const { key: chosen, isDescending } = sortingOf(sort);
  const reverse = chosen !== undefined && (
    <button
      type="button"
      class="turn"
      aria-label={`Sorted ${wayOf(sort)}; reverse the order`}
      onClick={() => choose({ sort: isDescending ? chosen : `-${chosen}` })}
    >
      {isDescending ? '↓' : '↑'}
    </button>
  );
  const options = SORT_KEYS.map((key) => (
    <option key={key} value={key}>
      Sort: {key === 'cpu' ? SORTS[key].title : SORTS[key].title.toLowerCase()}
    </option>
  ));
  return (
    <>
      <select
        class="sort"
        aria-label="Sort"
        value={chosen ?? ''}
        onChange={({ currentTarget: { value } }) => {
          const key = sortingOf(value).key;
          choose({ sort: key === undefined ? '' : nextSorting('', key) });
        }}
      >
        <option value="">Sort: problems first</option>
        {options}
      </select>
      {reverse}
    </>
  );
}

interface TableProps extends Choice {
  readonly fleet: LiveFleet;
  readonly lines: readonly Line[];
  /** Whether the row of a server is open, or a group's servers are shown. */
  readonly isOpen: (line: Line) => boolean;
  readonly theme: string;
  /** Called with the line that the user opens or closes. */
  readonly onToggle: (line: Line) => void;
}

/** The table of servers. The browser skips the rows out of view, which stay empty until they are near it. */
export class Table extends Component<TableProps, { readonly active?: string }> {
  // Only now is the row as high as its contents.
  override componentDidUpdate(_: TableProps, { active }: Table['state']): void {
    const { activeElement } = document;
    if (active !== this.state.active && activeElement?.matches('tr.server') === true) {
      activeElement.scrollIntoView({ block: 'nearest' });
    }
  }

  override render({ fleet, lines, isOpen, theme, ...choice }: TableProps): JSX.Element {
    const activeLine = lines.find((line) => lineKey(line) === this.state.active) ?? lines[0];
    const { columns, widths } = columnsOf(fleet);
    const shape = columns.map(({ name }) => name).join(' ');
    const rows = lines.flatMap((line) => {
      const key = lineKey(line);
      const isExpanded = isOpen(line);
      const row = (
        <Row key={key} {...{ fleet, line, columns, shape, isExpanded }} isActive={line === activeLine} />
      );
      if (isGroup(line) || !isExpanded) return [row];
      const details = (
        <tr key={`${key} details`} class="details" role="row" aria-level={2}>
          <td role="gridcell">
            <Details fleet={fleet} server={line} theme={theme} />
          </td>
        </tr>
      );
      return [row, details];
    });
    // The only table role that supports expandable rows.
    return (
      <table class="servers" role="treegrid" aria-label="Servers" style={widths} data-columns={shape}>
        <thead role="rowgroup">
          <tr role="row">{columns.map((column) => heading(column, choice))}</tr>
        </thead>
        <tbody role="rowgroup" onClick={this.#onClick} onKeyDown={this.#onKey} onFocusIn={this.#onFocus}>
          {rows}
        </tbody>
      </table>
    );
  }

  #lineAt(target: EventTarget | null): Line | undefined {
    const row = target instanceof Element ? target.closest<HTMLElement>('tr.server') : null;
    return this.props.lines.find((line) => lineKey(line) === row?.dataset['key']);
  }

  readonly #onClick = ({ target }: MouseEvent): void => {
    const line = this.#lineAt(target);
    if (line !== undefined && String(getSelection()) === '') this.props.onToggle(line);
  };

  readonly #onFocus = ({ target }: FocusEvent): void => {
    const line = this.#lineAt(target);
    if (line !== undefined) this.setState({ active: lineKey(line) });
  };

  readonly #onKey = (event: KeyboardEvent): void => {
    const line = this.#lineAt(event.target);
    if (line === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const isExpanded = this.props.isOpen(line);
    const keys = ['Enter', ' ', ...(isExpanded ? ['ArrowLeft', 'Escape'] : ['ArrowRight'])];
    if (keys.includes(event.key)) this.props.onToggle(line);
    else if (!moveFocus(event.key)) return;
    event.preventDefault();
  };
}

function heading({ name, title, sort }: Column, { view, choose }: Choice): JSX.Element {
  const isSorted = sort !== undefined && sortingOf(view.sort).key === sort;
  const button = sort !== undefined && (
    <button type="button" onClick={() => choose({ sort: nextSorting(view.sort, sort) })}>
      {title}
    </button>
  );
  return (
    <th
      key={name}
      class={name}
      role="columnheader"
      scope="col"
      aria-sort={isSorted ? wayOf(view.sort) : undefined}
    >
      {button || title}
    </th>
  );
}

/** The number of rows that Page Up and Page Down move by. */
const PAGE_ROWS = 10;

/** Moves the keyboard focus to another row, the first one if none has it; false if the key moves nothing. */
export function moveFocus(key: string): boolean {
  const rows = [...document.querySelectorAll<HTMLElement>('tr.server')];
  const at = rows.findIndex((row) => row === document.activeElement);
  const moves: Readonly<Record<string, number>> = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    PageDown: at + PAGE_ROWS,
    PageUp: at - PAGE_ROWS,
    Home: 0,
    End: rows.length - 1,
  };
  const to = moves[key];
  if (to === undefined) return false;
  const row = rows[Math.min(Math.max(0, to), rows.length - 1)];
  row?.focus({ preventScroll: true });
  return true;
}

function lineKey(line: Line): string {
  return isGroup(line) ? line.key : keyOf(line);
}

interface RowProps {
  readonly fleet: LiveFleet;
  readonly line: Line;
  readonly columns: readonly Column[];
  /** The names of the columns. */
  readonly shape: string;
  readonly isExpanded: boolean;
  /** Whether the Tab key reaches it. */
  readonly isActive: boolean;
}

/** A line of the table; only lines near the viewport are drawn, and updated. */
class Row extends Component<RowProps, { readonly isNear?: boolean; readonly isDrawn?: boolean }> {
  #row: Element | null = null;

  override componentDidMount(): void {
    if (this.#row === null) return;
    NEARNESS.set(this.#row, (isNear) => {
      if (isNear) this.setState({ isNear, isDrawn: true });
      else if (this.state.isNear === true) this.setState({ isNear });
    });
    observer.observe(this.#row);
  }

  override componentWillUnmount(): void {
    if (this.#row !== null) observer.unobserve(this.#row);
  }

  override shouldComponentUpdate(next: RowProps, { isNear }: Row['state']): boolean {
    const { shape, isExpanded, isActive } = this.props;
    const isOther = next.shape !== shape || next.isExpanded !== isExpanded || next.isActive !== isActive;
    return isNear === true || isOther;
  }

  override render({ fleet, line, columns, isExpanded, isActive }: RowProps): JSX.Element {
    const server = isGroup(line) ? line.servers[0] : line;
    const cells = isGroup(line) && groupCells(line, fleet);
    // Roles are set explicitly, because the browser doesn't treat grids as tables.
    const drawn = columns.map(({ name, cell }) => (
      <td key={name} class={name} role="gridcell">
        {cells === false ? cell(server, fleet) : cells[name]}
      </td>
    ));
    return (
      <tr
        ref={(row) => {
          this.#row = row ?? this.#row;
        }}
        class={cells === false ? 'server' : 'server group'}
        role="row"
        tabIndex={isActive ? 0 : -1}
        aria-level={1}
        aria-expanded={isExpanded}
        data-key={lineKey(line)}
        data-level={levelOf(server)}
        data-attention={server.attention}
      >
        {(this.state.isDrawn === true || isActive) && drawn}
      </tr>
    );
  }
}

/** Rows within this distance of the viewport are drawn, so that scrolling shows no blanks. */
const MARGIN = '600px';

const NEARNESS = new WeakMap<Element, (isNear: boolean) => void>();
const observer = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) NEARNESS.get(target)?.(isIntersecting);
  },
  { rootMargin: MARGIN },
);
