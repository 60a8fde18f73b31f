import { type Notice, noticesOf } from '../data/notices.ts';
import type { PanelStatus } from '../data/protocol.ts';
import { needsText } from '../data/words.ts';
import { element, setAttribute, setText } from './dom.ts';
import type { Filter } from './view.ts';

/** Notices above the table; the details have all. */
const MAX_NOTICES = 3;

/** The panels: a line for each, notices of what is wrong, and in `details` a card for each with everything else. */
export class Panels {
  readonly notices = element('div', 'notices');
  readonly lines = element('ul', 'panel-lines');
  readonly details = element('div', 'grid');
  readonly #onFilter: (filter: Filter | undefined) => void;
  readonly #panels = new Map<string, PanelElements>();
  #shown: readonly PanelStatus[] = [];
  #filter: Filter | undefined;

  constructor(onFilter: (filter: Filter | undefined) => void) {
    this.#onFilter = onFilter;
    this.notices.role = 'status';
    this.lines.ariaLabel = 'Panels';
  }

  /** Shows these panels, with the number of servers of each. */
  show(panels: readonly PanelStatus[], servers: ReadonlyMap<string, number>): void {
    for (const { name } of panels) this.#panels.get(name)?.count(servers.get(name) ?? 0);
    if (panels === this.#shown) return;
    this.#shown = panels;
    const views = panels.map((panel) => {
      const view = this.#viewOf(panel.name);
      view.show(panel);
      view.count(servers.get(panel.name) ?? 0);
      return view;
    });
    showAll(
      this.lines,
      views.map(({ line }) => line),
    );
    showAll(
      this.details,
      views.map(({ card }) => card),
    );
    const notices = noticesOf(panels);
    const more = notices.length - MAX_NOTICES;
    const boxes = notices.slice(0, MAX_NOTICES).map(noticeBox);
    if (more > 0) boxes.push(element('p', 'sub', `${more} more: see the details.`));
    if (this.notices.textContent !== boxes.map(({ textContent }) => textContent).join('')) {
      this.notices.replaceChildren(...boxes);
    }
  }

  /** Highlights the panel that the table is filtered by. */
  choose(filter: Filter | undefined): void {
    this.#filter = filter;
    for (const [name, view] of this.#panels) view.choose(this.#isChosen(name));
  }

  #isChosen(name: string): boolean {
    return this.#filter?.kind === 'panel' && this.#filter.word === name;
  }

  #viewOf(name: string): PanelElements {
    let view = this.#panels.get(name);
    if (view === undefined) {
      view = new PanelElements(name, () =>
        this.#onFilter(this.#isChosen(name) ? undefined : { kind: 'panel', word: name }),
      );
      view.choose(this.#isChosen(name));
      this.#panels.set(name, view);
    }
    return view;
  }
}

/** One panel; its elements stay the same, so that its button keeps the keyboard focus. */
class PanelElements {
  readonly line: HTMLElement;
  readonly card: HTMLElement;
  readonly #fill = element('span', 'fill');
  readonly #calls = element('span', 'sub');
  readonly #problem = element('span', 'problem');
  readonly #servers = element('button', 'tile servers-of');
  readonly #body = element('div');

  constructor(name: string, onClick: () => void) {
    const bar = element('span', 'bar', this.#fill);
    bar.ariaHidden = 'true';
    const ofLine = element('span', 'name', 'Panel ', element('bdi', '', name));
    this.line = element('li', '', ofLine, bar, this.#calls, this.#problem);
    this.#servers.type = 'button';
    this.#servers.addEventListener('click', onClick);
    const head = element('div', 'head', element('h3', '', element('bdi', '', name)), this.#servers);
    this.card = element('article', 'panel', head, this.#body);
  }

  show(panel: PanelStatus): void {
    const { usedLastMinute: used, limitPerMinute: limit } = panel;
    const percent = limit > 0 ? Math.min(100, (used / limit) * 100) : 0;
    this.#fill.style.width = `${percent.toFixed(0)}%`;
    setAttribute(this.#fill, 'data-level', percent >= 95 ? 'warning' : undefined);
    setText(this.#calls, `${used} of ${limit} API calls/min`);
    const notices = noticesOf([panel]);
    setText(this.#problem, problemWords(panel, notices));
    setAttribute(this.#problem, 'data-severity', notices[0]?.severity);
    setAttribute(this.line, 'data-up', panel.up ? '' : undefined);
    this.#body.replaceChildren(
      ...notices.map(noticeBox),
      facts(panel),
      element('p', 'sub', needsText(panel)),
    );
  }

  count(servers: number): void {
    setText(this.#servers, servers === 1 ? '1 server' : `${servers} servers`);
  }

  choose(isChosen: boolean): void {
    this.#servers.ariaPressed = String(isChosen);
  }
}

/** What is wrong with a panel in a few words; the notice contains more. */
function problemWords({ up, nodesDown }: PanelStatus, notices: readonly Notice[]): string {
  if (!up) return 'down';
  if (notices.length === 0) return '';
  if (nodesDown.length > 0) return nodesDown.length === 1 ? '1 node down' : `${nodesDown.length} nodes down`;
  return notices.length === 1 ? '1 problem' : `${notices.length} problems`;
}

function noticeBox({ severity, title, remedy, detail }: Notice): HTMLElement {
  const box = element('div', 'notice', element('p', 'title', element('bdi', '', title)));
  box.dataset['severity'] = severity;
  if (remedy !== '') box.append(element('p', '', remedy));
  if (detail !== '') box.append(element('p', 'sub', element('bdi', '', detail)));
  return box;
}

function facts(panel: PanelStatus): HTMLElement {
  const list = element('dl');
  const fact = (term: string, text: string, isBad = false) => {
    const value = element('dd', '', text);
    if (isBad) value.dataset['bad'] = '';
    list.append(element('div', '', element('dt', '', term), value));
  };
  fact('API calls in the last minute', `${panel.usedLastMinute} of ${panel.limitPerMinute}`);
  fact('queued', String(panel.queueLength));
  fact('rate-limited (429)', String(panel.rateLimited), panel.rateLimited > 0);
  if (panel.paused) fact('paused', 'rate limit exceeded', true);
  return list;
}

function showAll(parent: HTMLElement, children: readonly HTMLElement[]): void {
  const isSame =
    children.length === parent.children.length &&
    children.every((child, at) => child === parent.children[at]);
  if (!isSame) parent.replaceChildren(...children);
}
