import {
  conditionTitle,
  coreLimit,
  cores,
  mebibytes,
  NOTHING,
  rate,
  share,
  span,
  stateTitle,
} from '../data/words.ts';
import { drawing, element, setAttribute, setText } from './dom.ts';
import { isDown, type LiveFleet, troubleWords } from './live-fleet.ts';
import { sparkPaths } from './tracks.ts';

const SPARK = { width: 96, height: 24 };

/** One server's row of the table: its elements are made once, and later only what changed is written. */
export class ServerRow {
  readonly element = element('tr', 'server');
  server = -1;
  readonly #name = element('bdi', 'name');
  readonly #place = element('span', 'sub');
  readonly #state = element('span', 'badge');
  readonly #condition = element('span', 'sub');
  readonly #cpu = new UsageMeter('CPU');
  readonly #memory = new UsageMeter('Memory');
  readonly #disk = new UsageMeter('Disk');
  readonly #receive = element('span', 'main');
  readonly #transmit = element('span', 'main');
  readonly #age = element('span', 'main');
  readonly #source = element('span', 'sub');
  readonly #trouble = element('span', 'words');
  readonly #line = drawing('path', { class: 'line' });
  readonly #area = drawing('path', { class: 'area' });

  constructor() {
    this.element.setAttribute('role', 'row');
    this.element.tabIndex = -1;
    const { width, height } = SPARK;
    const spark = drawing('svg', {
      viewBox: `0 0 ${width} ${height}`,
      class: 'spark',
      'aria-hidden': 'true',
    });
    spark.append(this.#area, this.#line);
    const usage = this.#cpu.element;
    usage.append(spark);
    this.element.append(
      cell('who', this.#name, this.#place),
      cell('state', this.#state, this.#condition),
      cell('cpu', usage),
      cell('memory', this.#memory.element),
      cell('disk', this.#disk.element),
      cell('network', this.#receive, this.#transmit),
      cell('age', this.#age, this.#source),
      cell('trouble', this.#trouble),
    );
  }

  show(fleet: LiveFleet, server: number): void {
    this.server = server;
    this.#showName(fleet, server);
    this.#showState(fleet, server);
    const value = (column: Parameters<LiveFleet['value']>[0]) => fleet.value(column, server);
    this.#cpu.show(value('cpu'), value('cpuLimit'), cores, coreLimit);
    this.#memory.show(value('memory'), value('memoryLimit'), mebibytes, mebibytes);
    this.#disk.show(value('disk'), value('diskLimit'), mebibytes, mebibytes);
    setText(this.#receive, `↓ ${known(value('receive'), rate)}`);
    setText(this.#transmit, `↑ ${known(value('transmit'), rate)}`);
    this.#showAge(fleet, server);
    const trouble = troubleWords(fleet, server);
    setText(this.#trouble, trouble);
    setAttribute(this.#trouble, 'title', trouble === '' ? undefined : trouble);
  }

  /** Draws these values, of which NaN are gaps. */
  draw(values: readonly number[]): void {
    const { line, area } = sparkPaths(values, SPARK.width, SPARK.height);
    setAttribute(this.#line, 'd', line);
    setAttribute(this.#area, 'd', area);
  }

  #showName(fleet: LiveFleet, server: number): void {
    const { panel, egg } = fleet.full.servers;
    setText(this.#name, fleet.name(server));
    setAttribute(this.#name, 'title', fleet.name(server));
    const place = [panel[server], fleet.node[server], egg[server]].filter(
      (word) => word !== undefined && word !== '',
    );
    setText(this.#place, place.join(' · '));
  }

  #showState(fleet: LiveFleet, server: number): void {
    const state = fleet.state(server);
    const condition = fleet.condition(server);
    setText(this.#state, stateTitle(state));
    setAttribute(this.#state, 'data-state', isDown(fleet, server) ? 'down' : state);
    setText(this.#condition, fleet.blocked(server) ?? conditionTitle(condition));
    setAttribute(this.element, 'data-condition', condition);
    setAttribute(this.element, 'data-severity', fleet.problem(server)?.severity);
  }

  #showAge(fleet: LiveFleet, server: number): void {
    const age = fleet.age(server);
    const source = ['socket', 'poll'][fleet.value('source', server)] ?? '';
    const isLive = age === 0 && source === 'socket';
    setText(this.#age, age === undefined ? NOTHING : isLive ? 'live' : `${span(age)} ago`);
    setAttribute(this.#age, 'data-live', isLive ? '' : undefined);
    setText(this.#source, source);
  }
}

/** What is used of a limit: the amount, the limit with the share, and a bar. */
class UsageMeter {
  readonly element: HTMLDivElement;
  readonly #amount = element('span', 'main');
  readonly #limit = element('span', 'sub');
  readonly #bar = element('span', 'bar');
  readonly #fill = element('span', 'fill');

  constructor(label: string) {
    this.#bar.append(this.#fill);
    this.#bar.ariaHidden = 'true';
    this.element = element('div', 'usage', this.#amount, this.#limit, this.#bar);
    this.element.dataset['label'] = label;
  }

  show(
    used: number,
    limit: number,
    format: (value: number) => string,
    ofLimit: (value: number) => string,
  ): void {
    const percent = share(used, limit);
    setText(this.#amount, known(used, format));
    setText(this.#limit, percent === undefined ? '' : `${percent} % of ${ofLimit(limit)}`);
    this.#bar.hidden = percent === undefined;
    const width = `${Math.min(100, percent ?? 0)}%`;
    if (this.#fill.style.width !== width) this.#fill.style.width = width;
    setAttribute(
      this.#fill,
      'data-level',
      percent === undefined || percent < 80 ? undefined : levelOf(percent),
    );
  }
}

function levelOf(percent: number): string {
  return percent < 95 ? 'high' : 'full';
}

function known(value: number, format: (value: number) => string): string {
  return value < 0 ? NOTHING : format(value);
}

// Roles are said aloud, since on a phone the rows are no table to the browser.
function cell(className: string, ...children: readonly Node[]): HTMLTableCellElement {
  const made = element('td', className, ...children);
  made.setAttribute('role', 'cell');
  return made;
}
