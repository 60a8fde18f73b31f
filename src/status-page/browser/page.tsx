// The page in the browser, which holds all of its state.
import { type JSX, render } from 'preact';
import { count, span } from '../data/amounts.ts';
import type { LiveServer } from '../data/live-fields.ts';
import type { LiveUpdate } from '../data/live-update.ts';
import { nextColorScheme, storedColorScheme, useColorScheme } from './color-scheme.ts';
import { groupLines, isGroup, type Line } from './lines.ts';
import { LiveFleet, serverKey } from './live-fleet.ts';
import { order } from './order.ts';
import { details, notices, summary } from './overview.tsx';
import { Stream } from './stream.ts';
import { liveTitle, lostTitle } from './tab-title.ts';
import { moveFocus, sortList, Table } from './table.tsx';
import { minuteOfDay } from './times.tsx';
import { readView, type View, writeView } from './view.ts';
import { withCode } from './with-code.tsx';

/**
 * Rows keep their places for this many seconds while values change, so that they can be read and
 * clicked.
 */
const SETTLED_SECONDS = 5;

const PROGRAM = 'gameserver-exporter';

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
    if (isOtherProgram(full.version)) return;
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
   * Applies a user's choice, and stores it in the page's address: as a new history entry, or in
   * place of the current one.
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

  /** Sorts the servers, because the user asked for another order or because the values changed. */
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
    // Moving a row loses the keyboard focus.
    if (focused !== document.activeElement && focused instanceof HTMLElement && focused.isConnected) {
      focused.focus({ preventScroll: true });
    }
    const lost = this.#lostText();
    document.body.classList.toggle('lost', lost !== undefined);
    if (lost !== undefined) document.title = lostTitle(lost.since);
    else if (this.#fleet !== undefined) document.title = liveTitle(this.#fleet);
  }

  /** Since when there is no connection, and for how long; undefined unless it is lost. */
  #lostText(): { readonly since: string; readonly for: string } | undefined {
    const { silentSeconds } = this.#stream;
    if (silentSeconds === undefined) return undefined;
    const now = this.#now();
    return { since: minuteOfDay(now - silentSeconds, now), for: span(silentSeconds) };
  }

  /**
   * The exporter's clock, which goes on without a connection; before the first event, the
   * browser's.
   */
  #now(): number {
    return this.#fleet?.time ?? Date.now() / 1_000;
  }

  #layout(): JSX.Element {
    const { version, shard } = document.documentElement.dataset;
    const scheme = this.#scheme;
    return (
      <>
        <header class="top">
          <h1>Game servers</h1>
          {shard !== undefined && <span class="sub">shard {shard}</span>}
          {this.#link()}
          <nav>
            <a href="metrics">Metrics</a>
            <a href="api/v1/servers">JSON</a>
            <button
              type="button"
              class="theme"
              title="Switch between system, light and dark colors"
              onClick={() => {
                this.#scheme = nextColorScheme(scheme);
                useColorScheme(this.#scheme);
                this.#draw();
              }}
            >
              Theme: {scheme === 'auto' ? 'system' : scheme}
            </button>
          </nav>
        </header>
        <main>{this.#fleet !== undefined && this.#main(this.#fleet)}</main>
        <footer class="sub">
          {PROGRAM} {version} · <a href="-/healthy">Health</a> · <a href="-/ready">Readiness</a>
        </footer>
      </>
    );
  }

  #link(): JSX.Element | null {
    const lost = this.#lostText();
    if (lost === undefined && this.#fleet === undefined) return null;
    return (
      <>
        <p id="link" role="status" data-link={lost === undefined ? 'live' : 'lost'}>
          {lost === undefined ? 'live' : `no connection since ${lost.since}`}
        </p>
        {/* Not part of the status, which a screen reader would read every second. */}
        {lost !== undefined && <span class="sub">{lost.for}, reconnecting</span>}
      </>
    );
  }

  #main(fleet: LiveFleet): JSX.Element {
    const choice = { view: this.#view, choose: this.#choose };
    const hasServers = fleet.servers.length > 0;
    return (
      <>
        {notices(fleet)}
        <div class="overview">
          {summary(fleet, choice)}
          <div class="tools">
            {hasServers && this.#search(fleet)}
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
            {details(fleet, choice)}
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

  #search(fleet: LiveFleet): JSX.Element {
    const isNarrowed = this.#order.length !== fleet.servers.length;
    return (
      <>
        <p class="count" role="status">
          {isNarrowed ? `${count(this.#order.length)} of ${count(fleet.servers.length)}` : ''}
        </p>
        <input
          type="search"
          class="search"
          aria-label="Search"
          // A touch screen has no key to press.
          placeholder={matchMedia('(hover: hover)').matches ? 'Search   ( / )' : 'Search'}
          value={this.#view.q}
          onInput={({ currentTarget }) => this.#choose({ q: currentTarget.value }, 'in place')}
          onKeyDown={(event) => this.#onSearchKey(event, event.currentTarget)}
        />
      </>
    );
  }

  /** Search, filter and sort disable grouping. */
  #lines(): readonly Line[] {
    const { q, show, sort } = this.#view;
    return q + show + sort !== '' ? this.#order : groupLines(this.#order, this.#isOpen);
  }

  readonly #isOpen = (line: Line): boolean => {
    if (!isGroup(line)) return serverKey(line) === this.#view.open;
    return this.#opened.has(line.key) || line.servers.some(this.#isOpen);
  };

  readonly #onToggle = (line: Line): void => {
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

  #onSearchKey(event: KeyboardEvent, search: HTMLInputElement): void {
    if (event.key === 'ArrowDown' || event.key === 'Enter') {
      event.preventDefault();
      moveFocus('Home');
    } else if (event.key === 'Escape') {
      search.blur();
      this.#choose({ q: '' }, 'in place');
    }
  }

  #onKey(event: KeyboardEvent): void {
    const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
    if (event.key === '/') {
      event.preventDefault();
      document.querySelector<HTMLInputElement>('.search')?.select();
    } else if (event.key === 'Escape' && !event.defaultPrevented && this.#view.open !== '') {
      this.#choose({ open: '' });
    } else if (event.key === 'ArrowDown' && event.target === document.body) {
      event.preventDefault();
      moveFocus('Home');
    }
  }
}

/** Another version's page may use another protocol, so the page is reloaded, once. */
function isOtherProgram(version: string): boolean {
  const mine = document.documentElement.dataset['version'];
  const tried = `${PROGRAM}-reloaded-for`;
  if (version === mine || sessionStorage.getItem(tried) === version) return false;
  sessionStorage.setItem(tried, version);
  location.reload();
  return true;
}
