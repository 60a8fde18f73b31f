import type { ExplainedProblem, PanelStatus } from '../data/protocol.ts';
import { conditionTitle, problemText, span, stateTitle } from '../data/words.ts';
import { element, setAttribute, setText } from './dom.ts';
import { isDown, type LiveFleet } from './live-fleet.ts';

/** What the table is narrowed to by a count of the summary. */
export interface Filter {
  readonly kind: 'state' | 'condition';
  readonly word: string;
}

/** Always shown, be they 0; others only when there are some. */
const ALWAYS: ReadonlySet<string> = new Set(['running', 'offline', 'streaming', 'polling', 'blocked']);

/** How many servers are in each state, and how they are observed; each count narrows the table to those servers. */
export class Summary {
  readonly element = element('section', 'summary');
  readonly #total = element('strong');
  readonly #tiles = new Map<string, { readonly button: HTMLButtonElement; readonly count: HTMLElement }>();
  readonly #groups = {
    state: element('div', 'tiles'),
    condition: element('div', 'tiles'),
  };
  readonly #onFilter: (filter: Filter | undefined) => void;
  #filter: Filter | undefined;

  constructor(onFilter: (filter: Filter | undefined) => void) {
    this.#onFilter = onFilter;
    this.element.ariaLabel = 'Summary';
    const total = element('p', 'total', this.#total, element('span', '', 'servers'));
    this.element.append(total, this.#groups.state, this.#groups.condition);
  }

  show(fleet: LiveFleet): void {
    const { states, conditions } = fleet.full.words;
    setText(this.#total, String(fleet.size));
    const counts = { state: new Map<string, number>(), condition: new Map<string, number>() };
    let down = 0;
    let faultyBlocks = 0;
    for (let server = 0; server < fleet.size; server += 1) {
      if (isDown(fleet, server)) down += 1;
      count(counts.state, fleet.state(server));
      const condition = fleet.condition(server);
      count(counts.condition, condition);
      if (condition === 'blocked' && fleet.problem(server)?.severity !== 'fact') faultyBlocks += 1;
    }
    for (const word of states) this.#showTile('state', word, counts.state.get(word) ?? 0);
    for (const word of conditions) this.#showTile('condition', word, counts.condition.get(word) ?? 0);
    setAttribute(this.#tileOf('state', 'offline').button, 'data-bad', down > 0 ? '' : undefined);
    setAttribute(this.#tileOf('condition', 'blocked').button, 'data-bad', faultyBlocks > 0 ? '' : undefined);
    document.title = `${counts.state.get('running') ?? 0}/${fleet.size} running · gameserver-exporter`;
  }

  #showTile(kind: Filter['kind'], word: string, amount: number): void {
    const { button, count } = this.#tileOf(kind, word);
    setText(count, String(amount));
    button.hidden = amount === 0 && !ALWAYS.has(word) && this.#filter?.word !== word;
    setAttribute(button, 'data-none', amount === 0 ? '' : undefined);
  }

  #tileOf(kind: Filter['kind'], word: string) {
    const found = this.#tiles.get(word);
    if (found !== undefined) return found;
    const title = kind === 'state' ? stateTitle : conditionTitle;
    const count = element('b');
    const button = element('button', 'tile', count, element('span', '', title(word)));
    button.type = 'button';
    button.dataset[kind] = word;
    button.ariaPressed = 'false';
    button.addEventListener('click', () => this.#choose({ kind, word }));
    this.#groups[kind].append(button);
    const tile = { button, count };
    this.#tiles.set(word, tile);
    return tile;
  }

  #choose(filter: Filter): void {
    this.#filter = this.#filter?.word === filter.word ? undefined : filter;
    for (const [word, { button }] of this.#tiles) button.ariaPressed = String(word === this.#filter?.word);
    this.#onFilter(this.#filter);
  }
}

function count(counts: Map<string, number>, word: string): void {
  counts.set(word, (counts.get(word) ?? 0) + 1);
}

/** Panels that are shown at once; more are folded away. */
const MAX_OPEN = 6;

/** The panels: whether they answer, what is used of their API's budget, and what is planned within it. */
export class Panels {
  readonly element = element('details', 'panels');
  readonly #grid = element('div', 'grid');
  readonly #title = element('summary');
  #panels: readonly PanelStatus[] = [];
  #isFirst = true;

  constructor() {
    this.element.append(this.#title, this.#grid);
  }

  show(panels: readonly PanelStatus[]): void {
    if (panels === this.#panels) return;
    this.#panels = panels;
    if (this.#isFirst) this.element.open = panels.length <= MAX_OPEN;
    this.#isFirst = false;
    const down = panels.filter((panel) => !panel.up).length;
    this.#title.textContent = `${panels.length === 1 ? '1 panel' : `${panels.length} panels`}${down > 0 ? `, ${down} down` : ''}`;
    this.#grid.replaceChildren(...panels.map(panelCard));
  }
}

function panelCard(panel: PanelStatus): HTMLElement {
  const badge = element('span', 'badge', panel.up ? 'up' : 'down');
  badge.dataset['state'] = panel.up ? 'running' : 'down';
  const head = element('h3', '', element('bdi', '', panel.name), badge);
  const facts = element('dl');
  const fact = (term: string, text: string, isBad = false) => {
    const value = element('dd', '', text);
    if (isBad) value.dataset['bad'] = '';
    facts.append(element('div', '', element('dt', '', term), value));
  };
  fact('API calls a minute', `${panel.usedLastMinute} of ${panel.limitPerMinute}`);
  fact('waiting', String(panel.queueLength));
  fact('answered 429', String(panel.rateLimited), panel.rateLimited > 0);
  if (panel.paused) fact('paused', 'the panel says that its limit is exceeded', true);
  const plan = element('p', 'sub', planWords(panel));
  return element('article', 'panel', head, ...problemLines(panel), budgetBar(panel), facts, plan);
}

/** What is wrong with the panel, and the nodes whose servers can't be observed. */
function problemLines({ problems, nodesDown }: PanelStatus): readonly HTMLElement[] {
  const ofNodes = nodesDown.map(({ node, problem }) =>
    problemLine(problem, `node ${node} is down${problem === undefined ? '' : ': '}`),
  );
  return [...problems.map((problem) => problemLine(problem)), ...ofNodes];
}

function problemLine(problem: ExplainedProblem | undefined, subject = ''): HTMLElement {
  const text = problem === undefined ? subject : `${subject}${problemText(problem)}`;
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

/** The plan in one sentence or two. */
function planWords(panel: PanelStatus): string {
  const parts: string[] = [];
  if (panel.sockets > 0) parts.push(`${panel.sockets} by socket`);
  if (panel.turns > 0) {
    parts.push(
      `${panel.turns} sharing ${panel.turnSockets} sockets, up to ${span(panel.longestAgeSeconds)} old`,
    );
  }
  if (panel.polls > 0) parts.push(`${panel.polls} polled every ${span(panel.pollIntervalSeconds)}`);
  const plan = `Plan: ${parts.join(', ') || 'no servers'}; ${panel.callsPerMinute} calls a minute.`;
  const isShort = panel.wantedCallsPerMinute > panel.limitPerMinute;
  return isShort ? `${plan} Streaming all would take ${panel.wantedCallsPerMinute}.` : plan;
}
