import { isCrash, type StateChange } from '../../domain/reading.ts';
import type { LiveServer } from '../data/live-server.ts';
import type { ServerHistory } from '../data/protocol.ts';
import { STOP_TITLES, stopWords } from '../data/trouble.ts';
import { conditionTitle, coreLimit, size, sizeLimit, span, stateTitle } from '../data/words.ts';
import { Charts } from './charts.ts';
import { ago, element, setAttribute, setText, setTime, timeOfDay } from './dom.ts';
import { type LiveFleet, problemAt } from './live-fleet.ts';
import { playerWords } from './row.ts';

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

  /** Shows another server; its charts and changes appear with its history. */
  open(fleet: LiveFleet, server: LiveServer): void {
    this.#charts.end();
    this.#showChanges([], 0);
    this.#stops = '';
    this.update(fleet, server);
  }

  update(fleet: LiveFleet, server: LiveServer): void {
    this.#showTroubles(troublesOf(fleet, server));
    this.#showFacts(factsOf(fleet, server, this.#stops));
    const address = panelAddress(fleet, server);
    this.#link.hidden = address === undefined;
    setAttribute(this.#link, 'href', address);
    for (const item of this.#changeItems) item.update(fleet.time);
  }

  /** Shows the server's history, as of this Unix time in seconds. */
  async showHistory(history: ServerHistory, server: LiveServer, now: number): Promise<void> {
    this.#stops = Object.entries(history.stops)
      .filter(([, count]) => count > 0)
      .map(([reason, count]) => `${count} ${STOP_TITLES[reason as keyof typeof history.stops]}`)
      .join(' · ');
    this.#showChanges(history.state_changes, now);
    await this.#charts.show(history, server);
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
  /** What happened: method, address and body of a response, or the error. */
  readonly detail: string;
}

/** The problem shown in the row, and the problem with monitoring the server if that is a different one. */
function troublesOf(fleet: LiveFleet, server: LiveServer): readonly TroubleBox[] {
  const trouble = fleet.troubleAt(server);
  const problem = problemAt(server);
  if (problem === undefined) return trouble === undefined ? [] : [{ ...trouble, detail: '' }];
  const box = { ...problem, action: problem.remedy };
  if (trouble === undefined) return [box];
  return trouble.title === problem.title
    ? [{ ...box, severity: trouble.severity }]
    : [{ ...trouble, detail: '' }, box];
}

/** One fact about a server: a text, or a text that depends on an instant in Unix seconds. */
interface Fact {
  readonly term: string;
  readonly text?: string;
  readonly at?: number | undefined;
  readonly time?: string;
}

function factsOf(fleet: LiveFleet, server: LiveServer, stops: string): readonly Fact[] {
  const past = (at: number | undefined) =>
    at === undefined || at === 0 ? {} : { at, time: ago(at, fleet.time) };
  const { last_stop: stop, start_time_seconds: started, starts_total: starts = 0 } = server;
  return [
    { term: 'Panel', text: server.panel },
    { term: 'ID', text: server.uuid ?? server.server_id },
    { term: 'Node', text: server.node ?? '' },
    { term: 'Egg', text: server.egg ?? '' },
    { term: 'Labels', text: server.labels },
    { term: 'Limits', text: limitWords(server) },
    { term: 'Expected', text: expectation(server.expected_running) },
    { term: 'Condition', text: conditionTitle(server.condition) },
    { term: 'Last sample', ...past(server.last_sample_timestamp_seconds) },
    { term: 'Uptime', at: started, time: started === undefined ? '' : span(fleet.time - started) },
    { term: 'Players', text: playerWords(server) },
    { term: 'Last stop', text: stop === undefined ? '' : stopWords(stop), ...past(stop?.timestamp_seconds) },
    { term: 'Starts', text: starts > 0 ? String(starts) : '' },
    { term: 'Stops', text: stops },
    { term: 'Backups', text: backupWords(server), ...past(server.backup_last_success_timestamp_seconds) },
    { term: 'Backup failed', ...past(server.backup_last_failure_timestamp_seconds) },
  ];
}

function limitWords({
  cpu_limit_cores: cpu,
  memory_limit_bytes: memory,
  disk_limit_bytes: disk,
}: LiveServer): string {
  return [
    cpu === undefined ? '' : coreLimit(cpu),
    memory === undefined ? '' : `${sizeLimit(memory)} memory`,
    disk === undefined ? '' : `${sizeLimit(disk)} disk`,
  ]
    .filter(Boolean)
    .join(' · ');
}

function expectation(expected: number | undefined): string {
  if (expected === undefined) return 'unknown';
  return expected === 1 ? 'running' : 'any state';
}

function backupWords({ backups, backup_last_size_bytes: bytes }: LiveServer): string {
  if (backups === undefined) return '';
  return bytes === undefined ? String(backups) : `${backups}, newest ${size(bytes)}`;
}

/** The address of the server's page in the panel; undefined if the panel's address is unknown. */
function panelAddress(fleet: LiveFleet, { panel, server_id: id }: LiveServer): string | undefined {
  const url = fleet.panels.find(({ name }) => name === panel)?.url;
  return url === undefined ? undefined : `${url}/server/${encodeURIComponent(id)}`;
}

/** One state change, and how long ago it was. */
class ChangeItem {
  readonly element: HTMLLIElement;
  readonly #time = element('time', 'sub');
  readonly #at: number;

  constructor({ timestamp_seconds: at, state, reason, exit_code }: StateChange) {
    this.#at = at;
    const badge = element('span', 'badge', stateTitle(state));
    badge.dataset['state'] = isCrash(reason) ? 'down' : state;
    const why = reason === undefined ? '' : stopWords({ reason, exit_code });
    this.element = element('li', '', badge, element('span', 'why', why), this.#time);
  }

  update(now: number): void {
    setTime(this.#time, this.#at, `${timeOfDay(this.#at, now)} · ${ago(this.#at, now)}`);
  }
}
