import type { Delta, Full } from '../data/protocol.ts';
import { Details } from './details.ts';
import { element, setText } from './dom.ts';
import { HistoryCache } from './history-cache.ts';
import { LiveFleet } from './live-fleet.ts';
import { order, type ServerSelection } from './order.ts';
import { Panels, Summary } from './summary.ts';
import { Heading, ServerTable } from './table.ts';

/** Rows keep their places for this many seconds while values change, so that they can be read and hit. */
const SETTLED_SECONDS = 5;

/** The page: shows what the stream says, and reacts to the user. */
export class Page {
  readonly #link = document.querySelector<HTMLElement>('#link');
  readonly #search = element('input', 'search');
  readonly #count = element('p', 'count');
  readonly #summary = new Summary((filter) => {
    this.#select({
      state: filter?.kind === 'state' ? filter.word : undefined,
      condition: filter?.kind === 'condition' ? filter.word : undefined,
    });
  });
  readonly #panels = new Panels();
  readonly #details = new Details();
  readonly #histories = new HistoryCache(() => this.#table.render());
  readonly #heading = new Heading((sorting) => this.#select({ sorting }));
  readonly #table = new ServerTable({
    head: this.#heading.head,
    details: this.#details.element,
    opened: (server) => void this.#opened(server),
    shown: (servers) => this.#histories.want(servers.map((server) => this.#fleet?.key(server) ?? '')),
    sparkOf: (server) => this.#histories.find(this.#fleet?.key(server) ?? '')?.values('cpu_usage_cores'),
  });
  #fleet: LiveFleet | undefined;
  #selection: ServerSelection = { search: '', state: undefined, condition: undefined, sorting: undefined };
  #orderedAt = 0;
  #openKey: string | undefined;

  constructor() {
    this.#search.type = 'search';
    this.#search.placeholder = 'Search name, node, egg, label, trouble   ( / )';
    this.#search.ariaLabel = 'Search';
    this.#count.role = 'status';
    this.#search.addEventListener('input', () => this.#select({ search: this.#search.value }));
    this.#search.addEventListener('keydown', (event) => this.#onSearchKey(event));
    document.addEventListener('keydown', (event) => this.#onKey(event));
    document.querySelector('nav')?.append(themeButton(() => void this.#details.recolor()));
  }

  full(full: Full): void {
    if (isOtherProgram(full.version)) return;
    const fleet = new LiveFleet(full);
    const isFirst = this.#fleet === undefined;
    this.#fleet = fleet;
    if (isFirst) this.#build();
    this.#histories.reconnected();
    this.#showLink('live', 'live');
    const open = this.#openKey === undefined ? undefined : fleet.find(this.#openKey);
    if (open !== this.#table.open) this.#table.toggle(undefined);
    this.#arrange();
    if (open !== undefined && this.#table.open === undefined) this.#table.toggle(open);
    this.#update();
  }

  delta(delta: Delta): void {
    const fleet = this.#fleet;
    if (fleet === undefined) return;
    fleet.apply(delta);
    if (fleet.time - this.#orderedAt >= SETTLED_SECONDS) this.#arrange();
    this.#update();
  }

  lost(): void {
    this.#showLink('lost', 'connection lost, trying again');
  }

  #build(): void {
    const tools = element('div', 'tools', this.#search, this.#heading.choice, this.#count);
    document
      .querySelector('#status')
      ?.replaceChildren(this.#summary.element, this.#panels.element, tools, this.#table.element);
  }

  #showLink(kind: 'live' | 'lost', words: string): void {
    if (this.#link === null) return;
    this.#link.hidden = false;
    this.#link.dataset['link'] = kind;
    setText(this.#link, words);
    document.body.classList.toggle('lost', kind === 'lost');
  }

  #select(change: Partial<ServerSelection>): void {
    this.#selection = { ...this.#selection, ...change };
    this.#arrange();
  }

  #arrange(): void {
    const fleet = this.#fleet;
    if (fleet === undefined) return;
    this.#orderedAt = fleet.time;
    const servers = order(fleet, this.#selection);
    const isNarrowed = servers.length !== fleet.size;
    setText(this.#count, isNarrowed ? `${servers.length} of ${fleet.size}` : '');
    this.#table.show(fleet, servers);
  }

  #update(): void {
    const fleet = this.#fleet;
    if (fleet === undefined) return;
    this.#histories.follow(fleet);
    this.#summary.show(fleet);
    this.#panels.show(fleet.panels);
    this.#table.render();
    const { open } = this.#table;
    if (open === undefined) return;
    this.#details.update(fleet, open, this.#histories.track(fleet.key(open)));
    void this.#followChanges(fleet, open);
  }

  async #opened(server: number | undefined): Promise<void> {
    const fleet = this.#fleet;
    if (fleet === undefined || server === undefined) {
      this.#openKey = undefined;
      this.#details.close();
      return;
    }
    const key = fleet.key(server);
    this.#openKey = key;
    this.#stateShown = undefined;
    await this.#details.open(fleet, server, this.#histories.track(key));
    await this.#followChanges(fleet, server);
  }

  /** The state for which the changes were asked. */
  #stateShown: string | undefined;

  // The stream tells the state; how it came to that is asked for when it has changed.
  async #followChanges(fleet: LiveFleet, server: number): Promise<void> {
    const state = `${fleet.key(server)} ${fleet.state(server)}`;
    if (state === this.#stateShown) return;
    this.#stateShown = state;
    const changes = await this.#histories.changes(fleet.key(server));
    if (changes === undefined) this.#stateShown = undefined;
    else if (this.#openKey === fleet.key(server)) this.#details.changed(changes, fleet.time);
  }

  #onSearchKey(event: KeyboardEvent): void {
    if (event.key === 'ArrowDown' || event.key === 'Enter') {
      event.preventDefault();
      this.#table.focusFirst();
    } else if (event.key === 'Escape') {
      this.#search.value = '';
      this.#search.blur();
      this.#select({ search: '' });
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
      this.#table.toggle(undefined);
    } else if (event.key === 'ArrowDown' && event.target === document.body) {
      event.preventDefault();
      this.#table.focusFirst();
    }
  }
}

/** Another version's page may speak another language: it is loaded, once. */
function isOtherProgram(version: string): boolean {
  const mine = document.documentElement.dataset['version'];
  const tried = 'gameserver-exporter-reloaded-for';
  if (version === mine || sessionStorage.getItem(tried) === version) return false;
  sessionStorage.setItem(tried, version);
  location.reload();
  return true;
}

const THEMES = ['auto', 'light', 'dark'] as const;
type Theme = (typeof THEMES)[number];

const STORED = 'gameserver-exporter-theme';

/** A button that goes through the system's colors, light ones and dark ones; `onChange` is called when they are other ones. */
function themeButton(onChange: () => void): HTMLButtonElement {
  const button = element('button', 'theme');
  button.type = 'button';
  let theme = stored();
  const show = () => {
    if (theme === 'auto') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = theme;
    button.textContent = theme === 'auto' ? 'auto theme' : theme;
    button.title = 'Change between light, dark, and what the system prefers';
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

// Storage may be forbidden; the choice then lasts as long as the page.
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
    // As above.
  }
}
