import { STEP_SECONDS } from '../../domain/reading.ts';
import type { LiveServer } from '../data/live-server.ts';
import type { Delta, Full, ServerHistory } from '../data/protocol.ts';
import { noServersText } from '../data/words.ts';
import { Details } from './details.ts';
import { element, setText } from './dom.ts';
import { keyOf, LiveFleet } from './live-fleet.ts';
import { order } from './order.ts';
import { Panels } from './panels.ts';
import { Heading, Summary } from './summary.ts';
import { type OrderCause, ServerTable } from './table.ts';
import { readView, type View, writeView } from './view.ts';

const THEMES = ['auto', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

const STORED = 'gameserver-exporter-theme';

/** A button that cycles through system, light and dark colors; `onChange` is called when the colors change. */
function themeButton(onChange: () => void): HTMLButtonElement {
  const button = element('button', 'theme');
  button.type = 'button';
  let theme = stored();
  const show = () => {
    document.documentElement.style.colorScheme = theme === 'auto' ? 'light dark' : theme;
    button.textContent = `Theme: ${theme === 'auto' ? 'system' : theme}`;
    button.title = 'Switch between system, light and dark colors';
  };
  button.addEventListener('click', () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'auto';
    store(theme);
    show();
    onChange();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', onChange);
  show();
  return button;
}

// Storage may be disabled; the choice then lasts as long as the page.
function stored(): Theme {
  try {
    return THEMES.find((theme) => theme === localStorage.getItem(STORED)) ?? 'auto';
  } catch {
    return 'auto';
  }
}

function store(theme: Theme): void {
  try {
    localStorage.setItem(STORED, theme);
  } catch {
    // Storage may be disabled; see above.
  }
}

/** Rows keep their places for this many seconds while values change, so that they can be read and clicked. */
const SETTLED_SECONDS = 5;

/** The page: shows the stream's data, and reacts to the user. */
export class Page {
  readonly #link = document.querySelector<HTMLElement>('#link');
  readonly #tools = element('div', 'tools');
  readonly #search = element('input', 'search');
  readonly #count = element('p', 'count');
  readonly #nothing = element('p', 'nothing');
  readonly #more = element('div', 'more');
  readonly #moreButton = element('button', 'more-button', 'Details');
  readonly #clear = element('button', 'clear', 'Show all servers');
  readonly #summary = new Summary((filter) => this.#choose({ filter }));
  readonly #panels = new Panels((filter) => this.#choose({ filter }));
  readonly #details = new Details();
  readonly #heading = new Heading((sorting) => this.#choose({ sorting }));
  readonly #table = new ServerTable({
    head: this.#heading.head,
    details: this.#details.element,
    opened: (server) => this.#choose({ open: server && keyOf(server) }),
  });
  #fleet: LiveFleet | undefined;
  #view: View = readView(location.search);
  #orderedAt = 0;
  /** The server shown in the details. */
  #detailed: string | undefined;
  /** The server, state, stop and step for which the history in the details was fetched. */
  #historyOf: string | undefined;

  constructor() {
    this.#search.type = 'search';
    // A touch screen has no key to press.
    this.#search.placeholder = matchMedia('(hover: hover)').matches ? 'Search   ( / )' : 'Search';
    this.#search.ariaLabel = 'Search';
    this.#count.role = 'status';
    this.#more.id = 'more';
    this.#more.hidden = true;
    this.#moreButton.type = 'button';
    this.#moreButton.setAttribute('aria-controls', this.#more.id);
    this.#moreButton.ariaExpanded = 'false';
    this.#moreButton.addEventListener('click', () => this.#toggleMore());
    this.#clear.type = 'button';
    this.#clear.addEventListener('click', () => {
      this.#search.value = '';
      this.#choose({ search: '', filter: undefined });
    });
    this.#search.addEventListener('input', () => this.#choose({ search: this.#search.value }, 'in place'));
    this.#search.addEventListener('keydown', (event) => this.#onSearchKey(event));
    document.addEventListener('keydown', (event) => this.#onKey(event));
    window.addEventListener('popstate', () => {
      this.#view = readView(location.search);
      this.#search.value = this.#view.search;
      this.#apply();
    });
    document.querySelector('nav')?.append(themeButton(() => void this.#details.recolor()));
  }

  full(full: Full): void {
    if (isOtherProgram(full.version)) return;
    const isFirst = this.#fleet === undefined;
    this.#fleet = new LiveFleet(full);
    if (isFirst) this.#build();
    this.#historyOf = undefined;
    this.#showLink('live', 'live');
    this.#apply();
    this.#update();
    if (isFirst) this.#table.reveal();
  }

  delta(delta: Delta): void {
    const fleet = this.#fleet;
    if (fleet === undefined) return;
    fleet.apply(delta);
    const isUrgent =
      this.#view.sorting === undefined && (delta.changes.attention ?? delta.servers.attention) !== undefined;
    if (isUrgent || fleet.time - this.#orderedAt >= SETTLED_SECONDS) this.#arrange('settled');
    this.#update();
  }

  lost(): void {
    this.#showLink('lost', 'connection lost, reconnecting');
  }

  #build(): void {
    this.#search.value = this.#view.search;
    this.#tools.append(this.#search, this.#heading.choice, this.#heading.turn, this.#count);
    this.#more.append(element('h2', 'unseen', 'Details'), this.#summary.details, this.#panels.details);
    const servers = element('h2', 'unseen', 'Servers');
    document
      .querySelector('#status')
      ?.replaceChildren(
        this.#panels.notices,
        element(
          'div',
          'overview',
          this.#summary.element,
          element('div', 'panel-bar', this.#panels.lines, this.#moreButton),
          this.#more,
          this.#tools,
        ),
        servers,
        this.#table.element,
        element('div', 'none', this.#nothing, this.#clear),
      );
  }

  #toggleMore(): void {
    this.#more.hidden = !this.#more.hidden;
    this.#moreButton.ariaExpanded = String(!this.#more.hidden);
  }

  #showLink(kind: 'live' | 'lost', words: string): void {
    if (this.#link === null) return;
    this.#link.hidden = false;
    this.#link.dataset['link'] = kind;
    setText(this.#link, words);
    document.body.classList.toggle('lost', kind === 'lost');
  }

  /** Applies a user's choice, and stores it in the page's address: as a new history entry, or in place of the current one. */
  #choose(change: Partial<View>, step: 'new' | 'in place' = 'new'): void {
    this.#view = { ...this.#view, ...change };
    const query = writeView(this.#view, location.search);
    if (query !== location.search) {
      const address = query === '' ? location.pathname : query;
      if (step === 'new') history.pushState(null, '', address);
      else history.replaceState(null, '', address);
    }
    this.#apply();
  }

  #apply(): void {
    const { filter, sorting } = this.#view;
    this.#heading.show(sorting);
    this.#summary.choose(filter);
    this.#panels.choose(filter);
    this.#arrange('chosen');
    void this.#showOpen();
  }

  /** Sorts the servers, because the user asked for another order or because the values changed. */
  #arrange(cause: OrderCause): void {
    const fleet = this.#fleet;
    if (fleet === undefined) return;
    this.#orderedAt = fleet.time;
    const servers = order(fleet, this.#view);
    const isNarrowed = servers.length !== fleet.servers.length;
    setText(this.#count, isNarrowed ? `${servers.length} of ${fleet.servers.length}` : '');
    setText(this.#nothing, nothingWords(fleet, servers.length));
    this.#nothing.hidden = servers.length > 0;
    this.#clear.hidden = servers.length > 0 || fleet.servers.length === 0;
    this.#tools.hidden = fleet.servers.length === 0;
    this.#table.show(fleet, servers, cause);
  }

  #update(): void {
    const fleet = this.#fleet;
    if (fleet === undefined) return;
    this.#summary.show(fleet);
    this.#panels.show(fleet.panels, fleet.panelSizes);
    this.#table.element.classList.toggle('with-players', fleet.has('players'));
    this.#table.element.classList.toggle(
      'with-trouble',
      fleet.servers.some((server) => fleet.isTroubled(server)),
    );
    this.#table.render();
    const { open } = this.#table;
    if (open === undefined) return;
    this.#details.update(fleet, open);
    void this.#followHistory(fleet, open);
  }

  async #showOpen(): Promise<void> {
    const fleet = this.#fleet;
    if (fleet === undefined) return;
    const key = this.#view.open;
    const server = key === undefined ? undefined : fleet.find(key);
    this.#table.setOpen(server);
    if (server === undefined || key === undefined) {
      this.#detailed = undefined;
      this.#details.close();
      return;
    }
    if (key === this.#detailed) return;
    this.#detailed = key;
    this.#historyOf = undefined;
    this.#details.open(fleet, server);
    await this.#followHistory(fleet, server);
  }

  // The history is fetched when it has a new point, and when the stream shows another state or stop.
  async #followHistory(fleet: LiveFleet, server: LiveServer): Promise<void> {
    const key = keyOf(server);
    const { state, last_stop: stop } = server;
    const step = Math.floor(fleet.time / STEP_SECONDS);
    const historyOf = [key, state, stop?.timestamp_seconds, step].join(' ');
    if (historyOf === this.#historyOf) return;
    this.#historyOf = historyOf;
    const history = await fetchHistory(key);
    if (history === undefined) this.#historyOf = undefined;
    else if (this.#detailed === key) await this.#details.showHistory(history, server, fleet.time);
  }

  #onSearchKey(event: KeyboardEvent): void {
    if (event.key === 'ArrowDown' || event.key === 'Enter') {
      event.preventDefault();
      this.#table.focusFirst();
    } else if (event.key === 'Escape') {
      this.#search.value = '';
      this.#search.blur();
      this.#choose({ search: '' }, 'in place');
    }
  }

  #onKey(event: KeyboardEvent): void {
    const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
    if (event.key === '/') {
      event.preventDefault();
      this.#search.focus();
      this.#search.select();
    } else if (event.key === 'Escape' && !event.defaultPrevented && this.#table.open !== undefined) {
      this.#choose({ open: undefined });
    } else if (event.key === 'ArrowDown' && event.target === document.body) {
      event.preventDefault();
      this.#table.focusFirst();
    }
  }
}

/** The last minutes of the server with this key; undefined if the exporter is unreachable, which the stream shows. */
async function fetchHistory(key: string): Promise<ServerHistory | undefined> {
  try {
    const response = await fetch(`api/v1/history?${new URLSearchParams({ server: key }).toString()}`);
    if (!response.ok) return undefined;
    const { servers } = (await response.json()) as { readonly servers: readonly ServerHistory[] };
    return servers[0];
  } catch {
    return undefined;
  }
}

function nothingWords({ servers, panels }: LiveFleet, shown: number): string {
  if (servers.length === 0) return noServersText(panels.map(({ listing }) => listing));
  return shown === 0 ? 'No server matches.' : '';
}

/** Another version's page may use another protocol, so the page is reloaded, once. */
function isOtherProgram(version: string): boolean {
  const mine = document.documentElement.dataset['version'];
  const tried = 'gameserver-exporter-reloaded-for';
  if (version === mine || sessionStorage.getItem(tried) === version) return false;
  sessionStorage.setItem(tried, version);
  location.reload();
  return true;
}
