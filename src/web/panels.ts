import { span } from '../status/format.ts';
import type { PanelStatus } from '../status/protocol.ts';
import { element } from './dom.ts';

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
  return element('article', 'panel', head, budgetBar(panel), facts, element('p', 'sub', planWords(panel)));
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
