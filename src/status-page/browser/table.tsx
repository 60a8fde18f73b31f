// The table of servers.
import { Component, type JSX } from 'preact';
import { type Column, chooseColumns } from './columns.ts';
import { Details } from './details.tsx';
import { groupCells } from './group-cells.tsx';
import type { LiveFleet } from './live-fleet.ts';
import { hasUsage } from './resources.tsx';
import { serverKey } from './server-key.ts';
import { directions, parseSort, SORT_KEYS, SORTS } from './sorting.ts';
import { isGroup, type TableLine } from './table-lines.ts';
import { alarmLevel } from './traits.ts';
import type { Choice } from './view.ts';

/** A list of all orders, which also works on phones, where the table has no head. */
export function sortList({ view: { sort }, choose }: Choice): JSX.Element {
  const { key: chosen, direction } = parseSort(sort);
  const options = SORT_KEYS.map((key) => (
    <option key={key} value={directions(key)[0]}>
      Sort: {key === 'cpu' ? SORTS[key].title : SORTS[key].title.toLowerCase()}
    </option>
  ));
  return (
    <>
      <select
        class="sort"
        aria-label="Sort"
        value={chosen === undefined ? '' : directions(chosen)[0]}
        onChange={({ currentTarget: { value } }) => choose({ sort: value })}
      >
        <option value="">Sort: problems first</option>
        {options}
      </select>
      {chosen !== undefined && (
        <button
          type="button"
          class="turn"
          aria-label={`Sorted ${direction}; reverse the order`}
          onClick={() => choose({ sort: sort === chosen ? `-${chosen}` : chosen })}
        >
          {direction === 'descending' ? '↓' : '↑'}
        </button>
      )}
    </>
  );
}

interface TableProps extends Choice {
  readonly fleet: LiveFleet;
  readonly lines: readonly TableLine[];
  /** Whether the row of a server is open, or a group's servers are shown. */
  readonly isOpen: (line: TableLine) => boolean;
  /** Called when the user opens or closes a line. */
  readonly onToggle: (line: TableLine) => void;
}

/**
 * The table of servers. The browser skips rows that are out of view, and they stay empty until they
 * are near it.
 */
export class Table extends Component<TableProps, { readonly active?: string }> {
  override render({ fleet, lines, isOpen, onToggle, ...choice }: TableProps): JSX.Element {
    const activeLine = lines.find((line) => rowKey(line) === this.state.active) ?? lines[0];
    const grouped = new Set(lines.flatMap((line) => (isGroup(line) ? line.servers : [])));
    const { columns, widths } = chooseColumns(fleet);
    const shape = columns.map(({ name }) => name).join(' ');
    const rows = lines.flatMap((line) => {
      const key = rowKey(line);
      const isExpanded = isOpen(line);
      const row = (
        <Row
          key={key}
          {...{ fleet, line, columns, isExpanded }}
          isActive={line === activeLine}
          isGrouped={!isGroup(line) && grouped.has(line)}
          onToggle={() => onToggle(line)}
          onFocus={() => this.setState({ active: key })}
        />
      );
      if (isGroup(line) || !isExpanded) return [row];
      const details = (
        <tr key={`${key} details`} class="details" role="row" aria-level={2}>
          <td role="gridcell">
            <Details fleet={fleet} server={line} />
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
        <tbody role="rowgroup">{rows}</tbody>
      </table>
    );
  }
}

/**
 * The head of a column. Each click changes the order: the usual direction, the other direction,
 * none.
 */
function heading({ name, title, sort }: Column, { view, choose }: Choice): JSX.Element {
  const ways: readonly string[] = sort === undefined ? [] : directions(sort);
  const at = ways.indexOf(view.sort);
  return (
    <th
      key={name}
      class={name}
      role="columnheader"
      scope="col"
      aria-sort={at < 0 ? undefined : parseSort(view.sort).direction}
    >
      {sort === undefined ? (
        title
      ) : (
        <button type="button" onClick={() => choose({ sort: ways[at + 1] ?? '' })}>
          {title}
        </button>
      )}
    </th>
  );
}

/** The number of rows for Page Up and Page Down. */
const PAGE_ROWS = 10;

/**
 * Moves the keyboard focus to another row, or to the first one if no row has it. Returns false if
 * the key has no effect.
 */
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
  row?.scrollIntoView({ block: 'nearest' });
  return true;
}

function rowKey(line: TableLine): string {
  return isGroup(line) ? line.key : serverKey(line);
}

interface RowProps {
  readonly fleet: LiveFleet;
  readonly line: TableLine;
  readonly columns: readonly Column[];
  readonly isExpanded: boolean;
  /** Whether it follows the line of its group, which contains the action. */
  readonly isGrouped: boolean;
  /** Whether the Tab key reaches it. */
  readonly isActive: boolean;
  readonly onToggle: () => void;
  readonly onFocus: () => void;
}

/** Whether the browser reports which rows it skips. */
const SKIPS_ROWS = 'ContentVisibilityAutoStateChangeEvent' in globalThis;

/** A line of the table. Only lines near the viewport are drawn and updated. */
class Row extends Component<RowProps, { readonly isNear: boolean; readonly isDrawn: boolean }> {
  // Older browsers don't report which rows they skip, and draw all.
  override state = { isNear: !SKIPS_ROWS, isDrawn: !SKIPS_ROWS };

  override shouldComponentUpdate(next: RowProps, { isNear }: Row['state']): boolean {
    const { isExpanded, isActive } = this.props;
    return isNear || next.isExpanded !== isExpanded || next.isActive !== isActive;
  }

  override render({ fleet, line, columns, isExpanded, isGrouped, isActive, onFocus }: RowProps): JSX.Element {
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
        {...{ oncontentvisibilityautostatechange: this.#onSkip }}
        class={cells === false ? 'server' : 'server group'}
        role="row"
        tabIndex={isActive ? 0 : -1}
        aria-level={1}
        aria-expanded={isExpanded}
        data-level={alarmLevel(server)}
        data-attention={server.attention}
        data-grouped={isGrouped}
        data-usage={isGroup(line) || hasUsage(line)}
        onClick={() => String(getSelection()) === '' && this.props.onToggle()}
        onFocus={onFocus}
        onKeyDown={this.#onKey}
      >
        {(this.state.isDrawn || isActive) && drawn}
      </tr>
    );
  }

  readonly #onSkip = ({ skipped }: Event & { readonly skipped: boolean }): void => {
    this.setState(({ isDrawn }) => ({ isNear: !skipped, isDrawn: isDrawn || !skipped }));
  };

  readonly #onKey = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const toggling = ['Enter', ' ', ...(this.props.isExpanded ? ['ArrowLeft', 'Escape'] : ['ArrowRight'])];
    if (toggling.includes(event.key)) this.props.onToggle();
    else if (!moveFocus(event.key)) return;
    event.preventDefault();
  };
}
