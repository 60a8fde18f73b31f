import { type JSX, render } from 'preact';
import type { LiveServer, LiveUpdate } from '../data/live-update.ts';
import {
  isGroup,
  keyOf,
  type Line,
  LiveFleet,
  linesOf,
  order,
  readView,
  titleOf,
  type View,
  writeView,
} from './live-fleet.ts';
import { details, notices, summary } from './overview.tsx';
import { moveFocus, sortList, Table } from './table.tsx';

/** Rows keep their places for this many seconds while values change, so that they can be read and clicked. */
const SETTLED_SECONDS = 5;

const PROGRAM = 'gameserver-exporter';

const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 5_000;

/** A connection without an event for this many milliseconds is dead, because the exporter sends one every second. */
const SILENCE_MS = 15_000;

/** The page: shows the stream's data, and reacts to the user. */
export class Page {
  readonly #root = document.querySelector('#page') ?? document.body;
  #fleet: LiveFleet | undefined;
  #view: View = readView(location.search);
  #link: 'live' | 'lost' | undefined;
  #theme = storedTheme();
  #showsDetails = false;
  /** The keys of the groups of servers that the user opened. */
  readonly #opened = new Set<string>();
  #order: readonly LiveServer[] = [];
  #orderedAt = 0;

  start(): void {
    useTheme(this.#theme);
    document.addEventListener('keydown', (event) => this.#onKey(event));
    window.addEventListener('popstate', () => {
      this.#view = readView(location.search);
      this.#arrange();
    });
    this.#draw();
    this.#listen(FIRST_RETRY_MS);
  }

  /** Listens to the exporter's stream, and reconnects for as long as the page is open. */
  #listen(firstRetryMs: number): void {
    const source = new EventSource('api/v1/stream');
    let retryMs = firstRetryMs;
    const lose = () => {
      clearTimeout(silence);
      source.close();
      this.#link = 'lost';
      this.#draw();
      setTimeout(() => this.#listen(Math.min(retryMs * 1.5, LONGEST_RETRY_MS)), retryMs);
    };
    let silence = setTimeout(lose, SILENCE_MS);
    const receive = ({ type, data }: MessageEvent<string>) => {
      clearTimeout(silence);
      silence = setTimeout(lose, SILENCE_MS);
      retryMs = FIRST_RETRY_MS;
      const update = JSON.parse(data) as LiveUpdate;
      if (type === 'full') this.#full(update);
      else this.#delta(update);
    };
    source.addEventListener('full', receive);
    source.addEventListener('delta', receive);
    // The browser's own retry gives up at the first response that isn't an event stream, such as a proxy's 502.
    source.addEventListener('error', lose);
  }

  #full(full: LiveUpdate): void {
    if (isOtherProgram(full.version)) return;
    const isFirst = this.#fleet === undefined;
    this.#fleet = new LiveFleet(full);
    this.#link = 'live';
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

  /** Applies a user's choice, and stores it in the page's address: as a new history entry, or in place of the current one. */
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

  /** Sorts the servers by their changed values, while the open row keeps its place on the screen. */
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
    document.body.classList.toggle('lost', this.#link === 'lost');
    if (this.#fleet !== undefined) document.title = titleOf(this.#fleet);
  }

  #layout(): JSX.Element {
    const version = document.documentElement.dataset['version'];
    const theme = this.#theme;
    return (
      <>
        <header class="top">
          <h1>Game servers</h1>
          {this.#link !== undefined && (
            <p id="link" role="status" data-link={this.#link}>
              {this.#link === 'live' ? 'live' : 'connection lost, reconnecting'}
            </p>
          )}
          <nav>
            <a href="metrics">Metrics</a>
            <a href="api/v1/servers">JSON</a>
            <button
              type="button"
              class="theme"
              title="Switch between system, light and dark colors"
              onClick={() => {
                this.#theme = nextTheme(theme);
                useTheme(this.#theme);
                this.#draw();
              }}
            >
              Theme: {theme === 'auto' ? 'system' : theme}
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
            <p>{hasServers ? 'No server matches.' : fleet.status.emptyBecause}</p>
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
          {isNarrowed ? `${this.#order.length} of ${fleet.servers.length}` : ''}
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

  /** Who looks for certain servers sees each of them. */
  #lines(): readonly Line[] {
    const { q, show, sort } = this.#view;
    return q + show + sort !== '' ? this.#order : linesOf(this.#order, this.#isOpen);
  }

  readonly #isOpen = (line: Line): boolean => {
    if (!isGroup(line)) return keyOf(line) === this.#view.open;
    return this.#opened.has(line.key) || line.servers.some(this.#isOpen);
  };

  readonly #onToggle = (line: Line): void => {
    const isOpen = this.#isOpen(line);
    if (!isGroup(line)) {
      this.#choose({ open: isOpen ? '' : keyOf(line) });
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

const THEMES = ['auto', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

const STORED = 'gameserver-exporter-theme';

/** Undefined if the user has disabled it; a choice then lasts as long as the page. */
function storage(): Storage | undefined {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
}

/** The colors that the viewer chose; `auto` are those of the system. */
function storedTheme(): Theme {
  return THEMES.find((theme) => theme === storage()?.getItem(STORED)) ?? 'auto';
}

/** Uses and stores these colors. */
function useTheme(theme: Theme): void {
  document.documentElement.style.colorScheme = theme === 'auto' ? 'light dark' : theme;
  storage()?.setItem(STORED, theme);
}

function nextTheme(theme: Theme): Theme {
  return THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'auto';
}
