import { isCrash } from '../data/attention.ts';
import type { ServerHistory, StateChange } from '../data/protocol.ts';
import { STOP_TITLES, stopWords } from '../data/trouble.ts';
import { conditionTitle, MIB, mebibytes, span, stateTitle } from '../data/words.ts';
import { type ChartLimits, Charts } from './charts.ts';
import { element, setAttribute, setText } from './dom.ts';
import type { LiveFleet } from './live-fleet.ts';
import { playerWords } from './row.ts';
import { ago, setTime, timeOfDay } from './times.ts';
import type { Track } from './tracks.ts';

/**
 * The contents of an open row: the server's problems and what to do, large charts, its identity, and its recent state changes.
 */
export class Details {
  readonly element = element('div', 'detail');
  readonly #charts = new Charts();
  readonly #facts = element('dl', 'facts');
  readonly #troubles = element('div', 'troubles');
  readonly #link = element('a', 'panel-link');
  readonly #changes = element('ol', 'changes');
  readonly #noChanges = element('p', 'sub');
  #changesText = '';
  #changeItems: readonly ChangeItem[] = [];
  #stops = '';

  constructor() {
    this.#link.rel = 'noopener noreferrer';
    this.#link.target = '_blank';
    this.#link.textContent = 'Open in the panel';
    // A scrollable element must be reachable by keyboard.
    this.#changes.tabIndex = 0;
    this.#changes.ariaLabel = 'State changes';
    const history = element(
      'div',
      'history',
      element('h3', '', 'State changes'),
      this.#noChanges,
      this.#changes,
    );
    const who = element('div', 'who', element('h3', '', 'Server'), this.#facts, this.#link);
    this.element.append(this.#troubles, this.#charts.element, element('div', 'side', who, history));
  }

  async open(fleet: LiveFleet, server: number, track: Track): Promise<void> {
    this.#showChanges([], 0);
    this.#stops = '';
    this.update(fleet, server, track);
    await this.#charts.begin(track, limitsOf(fleet, server));
  }

  update(fleet: LiveFleet, server: number, track: Track): void {
    this.#showTroubles(troublesOf(fleet, server));
    this.#showFacts(factsOf(fleet, server, this.#stops));
    const address = panelAddress(fleet, server);
    this.#link.hidden = address === undefined;
    setAttribute(this.#link, 'href', address);
    for (const item of this.#changeItems) item.update(fleet.time);
    this.#charts.update(track, limitsOf(fleet, server));
  }

  /** Shows the exporter's history, as of this Unix time in seconds. */
  changed({ state_changes: changes, stops }: ServerHistory, now: number): void {
    this.#stops = Object.entries(stops)
      .filter(([, count]) => count > 0)
      .map(([reason, count]) => `${count} ${STOP_TITLES[reason as keyof typeof stops]}`)
      .join(' · ');
    this.#showChanges(changes, now);
  }

  close(): void {
    this.#charts.end();
  }

  async recolor(): Promise<void> {
    await this.#charts.recolor();
  }

  /** Newest first. */
  #showChanges(changes: readonly StateChange[], now: number): void {
    const text = JSON.stringify(changes);
    if (text !== this.#changesText) {
      this.#changesText = text;
      setText(this.#noChanges, changes.length === 0 ? 'None yet.' : '');
      this.#changes.hidden = changes.length === 0;
      this.#changeItems = changes.toReversed().map((change) => new ChangeItem(change));
      this.#changes.replaceChildren(...this.#changeItems.map((item) => item.element));
    }
    for (const item of this.#changeItems) item.update(now);
  }

  #showTroubles(troubles: readonly TroubleBox[]): void {
    while (this.#troubles.children.length > troubles.length) this.#troubles.lastChild?.remove();
    while (this.#troubles.children.length < troubles.length) {
      this.#troubles.append(
        element('p', 'trouble', element('span', 'title'), element('span'), element('bdi', 'observed')),
      );
    }
    for (const [at, { severity, title, action, detail }] of troubles.entries()) {
      const box = this.#troubles.children[at];
      if (box === undefined) continue;
      setAttribute(box, 'data-severity', severity);
      for (const [place, text] of [title, action, detail].entries()) {
        const line = box.children[place];
        if (!(line instanceof HTMLElement)) continue;
        setText(line, text);
        line.hidden = text === '';
      }
    }
  }

  #showFacts(facts: readonly Fact[]): void {
    const shown = facts.filter(({ text = '', time = '' }) => text !== '' || time !== '');
    if (this.#facts.children.length !== shown.length * 2) {
      this.#facts.replaceChildren(
        ...shown.flatMap(() => [element('dt'), element('dd', '', element('bdi'), element('time', 'sub'))]),
      );
    }
    for (const [index, { term, text = '', at, time: past = '' }] of shown.entries()) {
      const [name, value] = [this.#facts.children[index * 2], this.#facts.children[index * 2 + 1]];
      const [words, time] = [value?.firstElementChild, value?.lastElementChild];
      if (name instanceof HTMLElement) setText(name, term);
      if (words instanceof HTMLElement) setText(words, text);
      if (time instanceof HTMLTimeElement) setTime(time, at, past);
    }
  }
}

/** One problem of the server. */
interface TroubleBox {
  readonly severity: string;
  readonly title: string;
  readonly action: string;
  /** What was observed: method, address and body of an answer, or the error. */
  readonly detail: string;
}

/** The problem shown in the row, and the problem with observing the server if that is a different one. */
function troublesOf(fleet: LiveFleet, server: number): readonly TroubleBox[] {
  const trouble = fleet.troubleAt(server);
  const problem = fleet.problem(server);
  const own = trouble === undefined || trouble.title === problem?.title ? [] : [{ ...trouble, detail: '' }];
  return problem === undefined ? own : [...own, { ...problem, action: problem.remedy }];
}

/** One fact about a server: a text, or a text that depends on an instant in Unix seconds. */
interface Fact {
  readonly term: string;
  readonly text?: string;
  readonly at?: number | undefined;
  readonly time?: string;
}

function factsOf(fleet: LiveFleet, server: number, stops: string): readonly Fact[] {
  const { panel, id, uuid, egg, labels } = fleet.full.servers;
  const instant = (column: Parameters<LiveFleet['value']>[0]) => {
    const seconds = fleet.value(column, server);
    return seconds > 0 ? seconds : undefined;
  };
  const past = (column: Parameters<LiveFleet['value']>[0]) => {
    const at = instant(column);
    return at === undefined ? {} : { at, time: ago(at, fleet.time) };
  };
  const started = instant('started');
  const starts = fleet.value('starts', server);
  return [
    { term: 'Panel', text: panel[server] ?? '' },
    { term: 'ID', text: uuid[server] || id[server] || '' },
    { term: 'Node', text: fleet.node[server] ?? '' },
    { term: 'Egg', text: egg[server] ?? '' },
    { term: 'Labels', text: labels[server] ?? '' },
    { term: 'Expected', text: expectation(fleet.value('expected', server)) },
    { term: 'Condition', text: conditionTitle(fleet.condition(server)) },
    { term: 'Last sample', ...past('sampled') },
    { term: 'Uptime', at: started, time: started === undefined ? '' : span(fleet.time - started) },
    { term: 'Players', text: playerWords(fleet.value('players', server), fleet.value('playersMax', server)) },
    { term: 'Last stop', text: fleet.lastStopWords(server), ...past('stopped') },
    { term: 'Starts', text: starts > 0 ? String(starts) : '' },
    { term: 'Stops', text: stops },
    { term: 'Backups', text: backupWords(fleet, server), ...past('backedUp') },
    { term: 'Backup failed', ...past('backupFailed') },
  ];
}

function expectation(expected: number): string {
  if (expected < 0) return 'unknown';
  return expected === 1 ? 'running' : 'any state';
}

function backupWords(fleet: LiveFleet, server: number): string {
  const [count, size] = [fleet.value('backups', server), fleet.value('backupSize', server)];
  if (count < 0) return '';
  return size < 0 ? String(count) : `${count}, newest ${mebibytes(size)}`;
}

/** The address of the server's page in the panel; undefined if the panel's address is unknown. */
function panelAddress(fleet: LiveFleet, server: number): string | undefined {
  const { panel, id } = fleet.full.servers;
  const url = fleet.panels.find(({ name }) => name === panel[server])?.url;
  return url === undefined ? undefined : `${url}/server/${encodeURIComponent(id[server] ?? '')}`;
}

function limitsOf(fleet: LiveFleet, server: number): ChartLimits {
  const cpu = fleet.value('cpuLimit', server);
  const memory = fleet.value('memoryLimit', server);
  return { cpuCores: cpu < 0 ? -1 : cpu / 100, memoryBytes: memory < 0 ? -1 : memory * MIB };
}

/** One state change, and how long ago it was. */
class ChangeItem {
  readonly element: HTMLLIElement;
  readonly #time = element('time', 'sub');
  readonly #at: number;

  constructor({ timestamp_seconds: at, state, reason, exit_code: exitCode }: StateChange) {
    this.#at = at;
    const badge = element('span', 'badge', stateTitle(state));
    badge.dataset['state'] = isCrash(reason) ? 'down' : state;
    const why = reason === undefined ? '' : stopWords({ reason, exitCode });
    this.element = element('li', '', badge, element('span', 'why', why), this.#time);
  }

  update(now: number): void {
    setTime(this.#time, this.#at, `${timeOfDay(this.#at, now)} · ${ago(this.#at, now)}`);
  }
}
