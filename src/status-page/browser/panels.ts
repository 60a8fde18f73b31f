import type { ExplainedProblem, PanelStatus } from '../data/protocol.ts';
import { needsText, nodeDownText, problemText } from '../data/words.ts';
import { element, setText } from './dom.ts';
import type { Filter } from './view.ts';

/** The panels: whether they answer, how much of their API budget is used, and what they require. */
export class Panels {
  readonly element = element('details', 'panels');
  readonly #grid = element('div', 'grid');
  readonly #title = element('h2');
  readonly #onFilter: (filter: Filter | undefined) => void;
  readonly #cards = new Map<string, PanelCard>();
  #panels: readonly PanelStatus[] = [];
  #filter: Filter | undefined;

  constructor(onFilter: (filter: Filter | undefined) => void) {
    this.#onFilter = onFilter;
    this.element.append(element('summary', '', this.#title), this.#grid);
  }

  /** Shows these panels, with the number of servers of each. */
  show(panels: readonly PanelStatus[], servers: ReadonlyMap<string, number>): void {
    for (const { name } of panels) this.#cards.get(name)?.count(servers.get(name) ?? 0);
    if (panels === this.#panels) return;
    const isTroubled = panels.some(hasTrouble);
    // The servers come first, unless a panel has a problem.
    if (isTroubled && !this.#panels.some(hasTrouble)) this.element.open = true;
    this.#panels = panels;
    setText(this.#title, titleOf(panels));
    const cards = panels.map((panel) => {
      const card = this.#cardOf(panel.name);
      card.show(panel);
      card.count(servers.get(panel.name) ?? 0);
      return card.element;
    });
    if (
      cards.length !== this.#grid.children.length ||
      cards.some((card, at) => card !== this.#grid.children[at])
    ) {
      this.#grid.replaceChildren(...cards);
    }
  }

  /** Highlights the panel that the table is filtered by. */
  choose(filter: Filter | undefined): void {
    this.#filter = filter;
    for (const [name, card] of this.#cards) card.choose(this.#isChosen(name));
  }

  #isChosen(name: string): boolean {
    return this.#filter?.kind === 'panel' && this.#filter.word === name;
  }

  #cardOf(name: string): PanelCard {
    let card = this.#cards.get(name);
    if (card === undefined) {
      card = new PanelCard(name, () =>
        this.#onFilter(this.#isChosen(name) ? undefined : { kind: 'panel', word: name }),
      );
      card.choose(this.#isChosen(name));
      this.#cards.set(name, card);
    }
    return card;
  }
}

function titleOf(panels: readonly PanelStatus[]): string {
  const [panel] = panels;
  const down = panels.filter(({ up }) => !up).length;
  if (panel === undefined || panels.length > 1)
    return down === 0 ? `${panels.length} panels, all up` : `${panels.length} panels, ${down} down`;
  const { name, up, usedLastMinute, limitPerMinute } = panel;
  const calls = `${usedLastMinute} of ${Math.floor(limitPerMinute)} API calls in the last minute`;
  return `Panel ${name}: ${up ? calls : 'down'}`;
}

/** One panel; its head stays the same element, so that its button keeps the keyboard focus. */
class PanelCard {
  readonly element: HTMLElement;
  readonly #badge = element('span', 'badge');
  readonly #servers = element('button', 'tile servers-of');
  readonly #body = element('div');

  constructor(name: string, onClick: () => void) {
    this.#servers.type = 'button';
    this.#servers.addEventListener('click', onClick);
    const head = element(
      'div',
      'head',
      element('h3', '', element('bdi', '', name)),
      this.#badge,
      this.#servers,
    );
    this.element = element('article', 'panel', head, this.#body);
  }

  show(panel: PanelStatus): void {
    setText(this.#badge, panel.up ? 'up' : 'down');
    this.#badge.dataset['state'] = panel.up ? 'running' : 'down';
    this.#body.replaceChildren(
      ...problemLines(panel),
      budgetBar(panel),
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

function hasTrouble({ up, problems, nodesDown }: PanelStatus): boolean {
  return !up || problems.length > 0 || nodesDown.length > 0;
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

/** The panel's problems, and the nodes whose servers can't be observed. */
function problemLines({ problems, nodesDown }: PanelStatus): readonly HTMLElement[] {
  const ofNodes = nodesDown.map(({ node, problem }) => problemLine(nodeDownText(node, problem), problem));
  return [...problems.map((problem) => problemLine(problemText(problem), problem)), ...ofNodes];
}

function problemLine(text: string, problem: ExplainedProblem | undefined): HTMLElement {
  const line = element('p', 'problem', element('bdi', '', text));
  if (problem !== undefined) line.dataset['severity'] = problem.severity;
  return line;
}

function budgetBar({ usedLastMinute, limitPerMinute }: PanelStatus): HTMLElement {
  const fill = element('span', 'fill');
  const percent = limitPerMinute > 0 ? Math.min(100, (usedLastMinute / limitPerMinute) * 100) : 0;
  fill.style.width = `${percent.toFixed(0)}%`;
  if (percent >= 95) fill.dataset['level'] = 'high';
  const bar = element('span', 'bar', fill);
  bar.ariaHidden = 'true';
  return bar;
}
