// The page in the browser, which holds all of its state.
import { type JSX, render } from 'preact';
import { span } from '../data/amounts.ts';
import type { LiveServer } from '../data/live-fields.ts';
import type { LiveUpdate } from '../data/live-update.ts';
import { type ColorScheme, storedColorScheme, useColorScheme } from './color-scheme.ts';
import { header, type LostConnection } from './header.tsx';
import { LiveFleet } from './live-fleet.ts';
import { breakdown, fleetSummary, notices } from './overview.tsx';
import { reloadIfUpdated } from './reload-page.ts';
import { searchField, selectSearch } from './search-field.tsx';
import { serverKey } from './server-key.ts';
import { order } from './shown-servers.ts';
import { Stream } from './stream.ts';
import { liveTitle, lostTitle } from './tab-title.ts';
import { moveFocus, sortList, Table } from './table.tsx';
import { groupLines, isGroup, type TableLine } from './table-lines.ts';
import { minuteOfDay } from './times.tsx';
import { readView, type View, writeView } from './view.ts';
import { withCode } from './with-code.tsx';

/**
 * Rows keep their places for this many seconds while values change, so that they can be read and
 * clicked.
 */
const SETTLED_SECONDS = 5;

export class Page {
  readonly #root = document.querySelector('#page') ?? document.body;
  #fleet: LiveFleet | undefined;
  #view: View = readView(location.search);
  readonly #stream = new Stream({
    received: (type, update) => (type === 'full' ? this.#full(update) : this.#delta(update)),
    lost: (silentSeconds) => {
      this.#fleet?.pass(silentSeconds);
      this.#draw();
    },
  });
  #scheme = storedColorScheme();
  #showsDetails = false;
  /** The keys of the groups of servers that the user opened. */
  readonly #opened = new Set<string>();
  #order: readonly LiveServer[] = [];
  #orderedAt = 0;

  start(): void {
    useColorScheme(this.#scheme);
    document.addEventListener('keydown', (event) => this.#onKey(event));
    window.addEventListener('popstate', () => {
      this.#view = readView(location.search);
      this.#arrange();
    });
    this.#draw();
    this.#stream.open();
  }

  #full(full: LiveUpdate): void {
    if (reloadIfUpdated(full.version)) return;
    const isFirst = this.#fleet === undefined;
    this.#fleet = new LiveFleet(full);
    this.#arrange();
    if (isFirst)
      document.querySelector('tr.details')?.previousElementSibling?.scrollIntoView({ block: 'nearest' });
  }

  #delta(delta: LiveUpdate): void {
    const fleet = this.#fleet;
    if (fleet === undefined) return;
    fleet.apply(delta);
    const isUrgent = this.#view.sort === '' && delta.changes.some(([field]) => field === 'attention');
    if (isUrgent || fleet.time - this.#orderedAt >= SETTLED_SECONDS) this.#settle();
    else this.#draw();
  }

  /**
   * Applies a user's choice and stores it in the page's address, as a new history entry or in place
   * of the current one.
   */
  readonly #choose = (change: Partial<View>, step: 'new' | 'in place' = 'new'): void => {
    this.#view = { ...this.#view, ...change };
    const query = writeView(this.#view, location.search);
    if (query !== location.search) {
      const address = query === '' ? location.pathname : query;
      if (step === 'new') history.pushState(null, '', address);
      else history.replaceState(null, '', address);
    }
    this.#arrange();
  };

  /** Sorts the servers after the user chose another order, or after values changed. */
  #arrange(): void {
    const fleet = this.#fleet;
    if (fleet !== undefined) {
      this.#orderedAt = fleet.time;
      this.#order = order(fleet, this.#view);
    }
    this.#draw();
  }

  /**
   * Sorts the servers by their changed values, while the open row keeps its place on the screen.
   */
  #settle(): void {
    const place = () => document.querySelector('tr.details')?.getBoundingClientRect();
    const before = place();
    this.#arrange();
    const after = place();
    if (before === undefined || after === undefined) return;
    if (before.top <= innerHeight && before.bottom >= 0) window.scrollBy(0, after.top - before.top);
  }

  #draw(): void {
    const focused = document.activeElement;
    render(this.#layout(), this.#root);
    // A row that moves loses the keyboard focus.
    if (focused !== document.activeElement && focused instanceof HTMLElement && focused.isConnected) {
      focused.focus({ preventScroll: true });
    }
    const lost = this.#lost;
    document.body.classList.toggle('lost', lost !== undefined);
    if (lost !== undefined) document.title = lostTitle(lost.since);
    else if (this.#fleet !== undefined) document.title = liveTitle(this.#fleet);
  }

  /** Undefined unless the connection is lost. */
  get #lost(): LostConnection | undefined {
    const { silentSeconds } = this.#stream;
    if (silentSeconds === undefined) return undefined;
    const now = this.#now();
    return { since: minuteOfDay(now - silentSeconds, now), for: span(silentSeconds) };
  }

  /**
   * The exporter's time, even while the connection is lost. Before the first event, the browser's
   * time.
   */
  #now(): number {
    return this.#fleet?.time ?? Date.now() / 1_000;
  }

  #layout(): JSX.Element {
    const fleet = this.#fleet;
    return (
      <>
        {header({
          lost: this.#lost,
          isLive: fleet !== undefined,
          scheme: this.#scheme,
          onScheme: this.#onScheme,
        })}
        <main>{fleet !== undefined && this.#main(fleet)}</main>
        <footer class="sub">
          gameserver-exporter {document.documentElement.dataset['version']} · <a href="-/healthy">Health</a> ·{' '}
          <a href="-/ready">Readiness</a>
        </footer>
      </>
    );
  }

  readonly #onScheme = (scheme: ColorScheme): void => {
    this.#scheme = scheme;
    useColorScheme(scheme);
    this.#draw();
  };

  #main(fleet: LiveFleet): JSX.Element {
    const choice = { view: this.#view, choose: this.#choose };
    const hasServers = fleet.servers.length > 0;
    return (
      <>
        {notices(fleet)}
        <div class="overview">
          {fleetSummary(fleet, choice)}
          <div class="tools">
            {hasServers &&
              searchField({
                text: this.#view.q,
                shown: this.#order.length,
                all: fleet.servers.length,
                onSearch: this.#onSearch,
              })}
            {hasServers && sortList(choice)}
            <button
              type="button"
              class="more-button"
              aria-controls="more"
              aria-expanded={this.#showsDetails}
              onClick={() => {
                this.#showsDetails = !this.#showsDetails;
                this.#draw();
              }}
            >
              Details
            </button>
          </div>
          <div class="more" id="more" hidden={!this.#showsDetails}>
            <h2 class="unseen">Details</h2>
            {breakdown(fleet, choice)}
          </div>
        </div>
        <h2 class="unseen">Servers</h2>
        {this.#order.length > 0 ? (
          <Table
            fleet={fleet}
            lines={this.#lines()}
            isOpen={this.#isOpen}
            onToggle={this.#onToggle}
            {...choice}
          />
        ) : (
          <div class="none">
            <p>{hasServers ? 'No server matches.' : withCode(fleet.status.emptyBecause)}</p>
            {hasServers && (
              <button type="button" class="clear" onClick={() => this.#choose({ q: '', show: '' })}>
                Show all servers
              </button>
            )}
          </div>
        )}
      </>
    );
  }

  readonly #onSearch = (q: string): void => this.#choose({ q }, 'in place');

  /** Search, filter and sort disable grouping. */
  #lines(): readonly TableLine[] {
    const { q, show, sort } = this.#view;
    return q + show + sort !== '' ? this.#order : groupLines(this.#order, this.#isOpen);
  }

  readonly #isOpen = (line: TableLine): boolean => {
    if (!isGroup(line)) return serverKey(line) === this.#view.open;
    return this.#opened.has(line.key) || line.servers.some(this.#isOpen);
  };

  readonly #onToggle = (line: TableLine): void => {
    const isOpen = this.#isOpen(line);
    if (!isGroup(line)) {
      this.#choose({ open: isOpen ? '' : serverKey(line) });
      return;
    }
    if (isOpen) this.#opened.delete(line.key);
    else this.#opened.add(line.key);
    if (this.#isOpen(line) === isOpen) this.#choose({ open: '' });
    else this.#draw();
  };

  #onKey(event: KeyboardEvent): void {
    const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
    if (event.key === '/') {
      event.preventDefault();
      selectSearch();
    } else if (event.key === 'Escape' && !event.defaultPrevented && this.#view.open !== '') {
      this.#choose({ open: '' });
    } else if (event.key === 'ArrowDown' && event.target === document.body) {
      event.preventDefault();
      moveFocus('Home');
    }
  }
}
