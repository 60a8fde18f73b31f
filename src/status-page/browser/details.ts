import type { StateChange } from '../data/protocol.ts';
import { conditionTitle, span, stateTitle } from '../data/words.ts';
import { type ChartLimits, Charts } from './charts.ts';
import { element, setAttribute, setText } from './dom.ts';
import { type LiveFleet, troubleWords } from './live-fleet.ts';
import type { Track } from './tracks.ts';

const MIB = 1_048_576;

/** What an open row shows: who the server is, its trouble, bigger charts, and its recent changes of state. */
export class Details {
  readonly element = element('div', 'detail');
  readonly #charts = new Charts();
  readonly #facts = element('dl', 'facts');
  readonly #trouble = element('p', 'trouble');
  readonly #changes = element('ol', 'changes');
  readonly #noChanges = element('p', 'sub');
  #changesText = '';

  constructor() {
    const history = element(
      'div',
      'history',
      element('h3', '', 'State changes'),
      this.#noChanges,
      this.#changes,
    );
    const side = element('div', 'side', this.#facts, history);
    this.element.append(this.#trouble, this.#charts.element, side);
  }

  async open(fleet: LiveFleet, server: number, track: Track): Promise<void> {
    this.changed([], 0);
    this.update(fleet, server, track);
    await this.#charts.begin(track, limitsOf(fleet, server));
  }

  update(fleet: LiveFleet, server: number, track: Track): void {
    const trouble = troubleWords(fleet, server);
    setText(this.#trouble, trouble);
    this.#trouble.hidden = trouble === '';
    setAttribute(this.#trouble, 'data-severity', fleet.problem(server)?.severity);
    this.#showFacts(factsOf(fleet, server));
    this.#charts.update(track, limitsOf(fleet, server));
  }

  /** Shows these changes, the newest first, as of this Unix time in seconds. */
  changed(changes: readonly StateChange[], now: number): void {
    const text = `${JSON.stringify(changes)}${changes.length > 0 ? Math.floor(now / 60) : ''}`;
    if (text === this.#changesText) return;
    this.#changesText = text;
    setText(this.#noChanges, changes.length === 0 ? 'None seen.' : '');
    this.#changes.replaceChildren(...changes.toReversed().map((change) => changeItem(change, now)));
  }

  close(): void {
    this.#charts.end();
  }

  async recolor(): Promise<void> {
    await this.#charts.recolor();
  }

  #showFacts(facts: readonly (readonly [string, string])[]): void {
    const shown = facts.filter(([, value]) => value !== '');
    if (this.#facts.children.length !== shown.length * 2) {
      this.#facts.replaceChildren(...shown.flatMap(() => [element('dt'), element('dd', '', element('bdi'))]));
    }
    for (const [index, [term, value]] of shown.entries()) {
      const [name, text] = [this.#facts.children[index * 2], this.#facts.children[index * 2 + 1]?.firstChild];
      if (name instanceof HTMLElement) setText(name, term);
      if (text instanceof HTMLElement) setText(text, value);
    }
  }
}

function factsOf(fleet: LiveFleet, server: number): readonly (readonly [string, string])[] {
  const { panel, id, uuid, egg, labels } = fleet.full.servers;
  const started = fleet.value('started', server);
  return [
    ['Panel', panel[server] ?? ''],
    ['Id', uuid[server] || id[server] || ''],
    ['Node', fleet.node[server] ?? ''],
    ['Egg', egg[server] ?? ''],
    ['Labels', labels[server] ?? ''],
    ['Expected', expectation(fleet.value('expected', server))],
    ['Up for', started < 0 ? '' : span(fleet.time - started)],
    ['Observed', conditionTitle(fleet.condition(server))],
  ];
}

function expectation(expected: number): string {
  if (expected < 0) return 'not known';
  return expected === 1 ? 'running' : 'any state';
}

function limitsOf(fleet: LiveFleet, server: number): ChartLimits {
  const cpu = fleet.value('cpuLimit', server);
  const memory = fleet.value('memoryLimit', server);
  return { cpuCores: cpu < 0 ? -1 : cpu / 100, memoryBytes: memory < 0 ? -1 : memory * MIB };
}

function changeItem({ timestamp_seconds: seconds, state }: StateChange, now: number): HTMLLIElement {
  const at = new Date(seconds * 1_000);
  const time = element('time', 'sub', `${at.toLocaleTimeString()} · ${span(now - seconds)} ago`);
  time.dateTime = at.toISOString();
  const badge = element('span', 'badge', stateTitle(state));
  badge.dataset['state'] = state;
  return element('li', '', badge, time);
}
