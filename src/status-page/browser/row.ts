import { SOURCES } from '../data/protocol.ts';
import {
  conditionTitle,
  coreLimit,
  cores,
  mebibyteLimit,
  mebibytes,
  NOTHING,
  rate,
  share,
  span,
  stateTitle,
} from '../data/words.ts';
import { drawing, element, setAttribute, setText } from './dom.ts';
import type { LiveFleet } from './live-fleet.ts';
import { ago, setTime } from './times.ts';
import { sparkPaths } from './tracks.ts';

const SPARK = { width: 96, height: 24 };

/** One server's row of the table: its elements are created once, and after that only changes are written. */
export class ServerRow {
  readonly element = element('tr', 'server');
  server = -1;
  readonly #name = element('bdi', 'name');
  readonly #place = element('span', 'sub');
  readonly #state = element('span', 'badge');
  readonly #condition = element('span', 'sub');
  readonly #trouble = new TroubleLines();
  readonly #cpu = new UsageMeter('CPU');
  readonly #memory = new UsageMeter('Mem');
  readonly #disk = new UsageMeter('Disk');
  readonly #receive = element('span', 'main');
  readonly #transmit = element('span', 'main');
  readonly #players = element('span', 'main');
  readonly #age = element('time', 'main');
  readonly #source = element('span', 'sub');
  readonly #line = drawing('path', { class: 'line' });
  readonly #area = drawing('path', { class: 'area' });

  constructor() {
    this.element.setAttribute('role', 'row');
    this.element.ariaLevel = '1';
    this.element.tabIndex = -1;
    const { width, height } = SPARK;
    const spark = drawing('svg', {
      viewBox: `0 0 ${width} ${height}`,
      preserveAspectRatio: 'none',
      class: 'spark',
      'aria-hidden': 'true',
    });
    spark.append(this.#area, this.#line);
    this.#cpu.element.append(spark);
    this.element.append(
      cell('who', this.#name, this.#place),
      cell('state', this.#state, this.#condition),
      cell('trouble', ...this.#trouble.elements),
      cell('cpu', this.#cpu.element),
      cell('memory', this.#memory.element),
      cell('disk', this.#disk.element),
      cell('network', this.#receive, this.#transmit),
      cell('players', this.#players),
      cell('age', this.#age, this.#source),
    );
  }

  show(fleet: LiveFleet, server: number): void {
    this.server = server;
    this.#showName(fleet, server);
    this.#showState(fleet, server);
    const isTroubled = this.#trouble.show(fleet, server);
    setAttribute(this.element, 'data-troubled', isTroubled ? '' : undefined);
    const value = (column: Parameters<LiveFleet['value']>[0]) => fleet.value(column, server);
    this.#cpu.show(value('cpu'), value('cpuLimit'), cores, coreLimit);
    this.#memory.show(value('memory'), value('memoryLimit'), mebibytes, mebibyteLimit);
    this.#disk.show(value('disk'), value('diskLimit'), mebibytes, mebibyteLimit);
    setText(this.#receive, `↓ ${known(value('receive'), rate)}`);
    setText(this.#transmit, `↑ ${known(value('transmit'), rate)}`);
    const players = playerWords(value('players'), value('playersMax'));
    setText(this.#players, players);
    setAttribute(this.element, 'data-players', players === '' ? undefined : '');
    this.#showAge(fleet, server);
  }

  /** Draws these values; NaN values are gaps. */
  draw(values: readonly number[]): void {
    const { line, area } = sparkPaths(values, SPARK.width, SPARK.height);
    setAttribute(this.#line, 'd', line);
    setAttribute(this.#area, 'd', area);
  }

  #showName(fleet: LiveFleet, server: number): void {
    const { panel, egg } = fleet.full.servers;
    setText(this.#name, fleet.name(server));
    const place = [panel[server], fleet.node[server], egg[server]]
      .filter((word) => word !== undefined && word !== '')
      .join(' · ');
    setText(this.#place, place);
    setAttribute(this.element.cells[0] ?? this.element, 'title', `${fleet.name(server)}\n${place}`);
  }

  #showState(fleet: LiveFleet, server: number): void {
    const state = fleet.state(server);
    const condition = fleet.condition(server);
    setText(this.#state, stateTitle(state));
    setAttribute(this.#state, 'data-state', isAlarming(fleet, server) ? 'down' : state);
    setText(this.#condition, observedWords(fleet, server));
    setAttribute(this.element, 'data-condition', condition);
    setAttribute(this.element, 'data-severity', fleet.problem(server)?.severity);
    setAttribute(this.element, 'data-attention', fleet.attention(server));
  }

  #showAge(fleet: LiveFleet, server: number): void {
    const age = fleet.age(server);
    const source = SOURCES[fleet.value('source', server)] ?? '';
    const isLive = age === 0 && source === 'socket';
    const sampled = fleet.value('sampled', server);
    const at = age === undefined ? undefined : sampled === 0 ? fleet.time : sampled;
    setTime(this.#age, at, age === undefined ? NOTHING : isLive ? 'live' : `${span(age)} ago`);
    setAttribute(this.#age, 'data-live', isLive ? '' : undefined);
    setText(this.#source, source);
  }
}

/** Players online and the maximum, such as 12/40; empty if unknown. */
export function playerWords(players: number, most: number): string {
  if (players < 0) return '';
  return most < 0 ? String(players) : `${players}/${most}`;
}

/** How the server is observed; the sample of a polled server may be some time old. */
function observedWords(fleet: LiveFleet, server: number): string {
  const condition = fleet.condition(server);
  const words = fleet.blocked(server) ?? conditionTitle(condition);
  const age = fleet.age(server) ?? 0;
  return condition === 'polling' && age > 0 ? `${words} · ${span(age)}` : words;
}

/** Whether the server's state is its problem. */
function isAlarming(fleet: LiveFleet, server: number): boolean {
  const attention = fleet.attention(server);
  return attention === 'crashed' || attention === 'gave_up' || attention === 'off' || attention === 'no_data';
}

/** A server's problem, and since when; below it, what to do. */
class TroubleLines {
  readonly #title = element('span', 'cause');
  readonly #since = element('time', 'sub since');
  readonly #action = element('span', 'words');
  readonly elements = [element('span', 'what', this.#title, this.#since), this.#action];

  /** Returns whether there is anything to show. */
  show(fleet: LiveFleet, server: number): boolean {
    const trouble = fleet.troubleAt(server);
    const since = trouble && sinceWords(fleet, server);
    setText(this.#title, trouble?.title ?? '');
    setAttribute(this.#title, 'title', trouble?.title);
    setTime(this.#since, since?.at, since?.text ?? '');
    setText(this.#action, trouble?.action ?? '');
    const [what] = this.elements;
    if (what !== undefined) setAttribute(what, 'data-severity', trouble?.severity);
    return trouble !== undefined;
  }
}

/** Since when the server has its problem; if that is unknown, how long ago it crashed. */
function sinceWords(
  fleet: LiveFleet,
  server: number,
): { readonly at: number; readonly text: string } | undefined {
  const since = fleet.troubleSince(server);
  if (since !== undefined) return { at: since, text: ago(since, fleet.time) };
  const crash = fleet.crashBeside(server);
  return crash && { at: crash.at, text: `${crash.title} ${ago(crash.at, fleet.time)}` };
}

/** Usage of a limited resource: the amount, the limit with the percentage, and a bar. */
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
    this.#amount.dataset['label'] = label;
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

// Roles are set explicitly, because on a phone the browser doesn't treat the rows as a table.
function cell(className: string, ...children: readonly Node[]): HTMLTableCellElement {
  const made = element('td', className, ...children);
  made.setAttribute('role', 'gridcell');
  return made;
}
