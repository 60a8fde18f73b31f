import { isOff } from '../../domain/server.ts';
import type { LiveServer } from '../data/live-server.ts';
import {
  conditionTitle,
  coreLimit,
  cores,
  NOTHING,
  rate,
  share,
  size,
  sizeLimit,
  span,
  stateTitle,
} from '../data/words.ts';
import { drawing, element, setAttribute, setText } from './dom.ts';
import { type LiveFleet, problemAt, troubleSince } from './live-fleet.ts';
import { sparkPaths } from './spark.ts';
import { ago, setTime } from './times.ts';

const SPARK = { width: 96, height: 24 };

/** One server's row of the table: its elements are created once, and after that only changes are written. */
export class ServerRow {
  readonly element = element('tr', 'server');
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

  show(fleet: LiveFleet, server: LiveServer): void {
    this.#showName(fleet, server);
    this.#showState(fleet, server);
    const isTroubled = this.#trouble.show(fleet, server);
    setAttribute(this.element, 'data-troubled', isTroubled ? '' : undefined);
    // Of a server that is off, only its disk is in use.
    const used = isOff(server.state) ? undefined : server;
    this.#cpu.show(used?.cpu_usage_cores, server.cpu_limit_cores, cores, coreLimit);
    this.#memory.show(used?.memory_usage_bytes, server.memory_limit_bytes, size, sizeLimit);
    this.#disk.show(server.disk_usage_bytes, server.disk_limit_bytes, size, sizeLimit);
    setText(
      this.#receive,
      used === undefined ? NOTHING : `↓ ${known(used.network_receive_bytes_per_second, rate)}`,
    );
    setText(
      this.#transmit,
      used === undefined ? '' : `↑ ${known(used.network_transmit_bytes_per_second, rate)}`,
    );
    const players = playerWords(server);
    setText(this.#players, players);
    setAttribute(this.element, 'data-players', players === '' ? undefined : '');
    this.#showAge(fleet, server);
  }

  /** Draws these values; null values are gaps. */
  draw(values: readonly (number | null)[]): void {
    const { line, area } = sparkPaths(values, SPARK.width, SPARK.height);
    setAttribute(this.#line, 'd', line);
    setAttribute(this.#area, 'd', area);
  }

  #showName({ panels }: LiveFleet, { server, panel, node, egg }: LiveServer): void {
    setText(this.#name, server);
    const place = [panels.length > 1 ? panel : '', node, egg]
      .filter((word) => word !== undefined && word !== '')
      .join(' · ');
    setText(this.#place, place);
    setAttribute(this.element.cells[0] ?? this.element, 'title', `${server}\n${place}`);
  }

  #showState(fleet: LiveFleet, server: LiveServer): void {
    const { state, condition, attention } = server;
    setText(this.#state, stateTitle(state));
    setAttribute(this.#state, 'data-state', isAlarming(server) ? 'down' : state);
    setText(this.#condition, observedWords(fleet, server));
    setAttribute(this.element, 'data-condition', condition);
    setAttribute(this.element, 'data-severity', problemAt(server)?.severity);
    setAttribute(this.element, 'data-attention', attention);
  }

  #showAge(fleet: LiveFleet, server: LiveServer): void {
    const age = fleet.age(server);
    const { source = '', last_sample_timestamp_seconds: sampled } = server;
    const isLive = age === 0 && source === 'socket';
    const at = age === undefined ? undefined : sampled === 0 ? fleet.time : sampled;
    setTime(this.#age, at, age === undefined ? NOTHING : isLive ? 'live' : `${span(age)} ago`);
    setAttribute(this.#age, 'data-live', isLive ? '' : undefined);
    setText(this.#source, source === 'socket' ? '' : source);
  }
}

/** Players online and the maximum, such as 12/40; empty if unknown. */
export function playerWords({ players, players_max: most }: LiveServer): string {
  if (players === undefined) return '';
  return most === undefined ? String(players) : `${players}/${most}`;
}

/** How the server is observed; the sample of a polled server may be some time old. */
function observedWords(fleet: LiveFleet, server: LiveServer): string {
  const { condition, blocked } = server;
  // Streaming is what every server does that has no problem.
  if (condition === 'streaming' && blocked === undefined) return '';
  const words = blocked ?? conditionTitle(condition);
  const age = fleet.age(server) ?? 0;
  return condition === 'polling' && age > 0 ? `${words} · ${span(age)}` : words;
}

/** Whether the server's state is its problem. */
function isAlarming({ attention }: LiveServer): boolean {
  return attention === 'crashed' || attention === 'gave_up' || attention === 'off' || attention === 'no_data';
}

/** A server's problem, and since when; below it, what to do. */
class TroubleLines {
  readonly #title = element('span', 'cause');
  readonly #since = element('time', 'sub since');
  readonly #action = element('span', 'words');
  readonly elements = [element('span', 'what', this.#title, this.#since), this.#action];

  /** Returns whether there is anything to show. */
  show(fleet: LiveFleet, server: LiveServer): boolean {
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
  server: LiveServer,
): { readonly at: number; readonly text: string } | undefined {
  const since = troubleSince(server);
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
    used: number | undefined,
    limit: number | undefined,
    format: (value: number) => string,
    ofLimit: (value: number) => string,
  ): void {
    const percent = share(used, limit);
    setText(this.#amount, known(used, format));
    setText(this.#limit, percent === undefined ? '' : `${percent} % of ${known(limit, ofLimit)}`);
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

function known(value: number | undefined, format: (value: number) => string): string {
  return value === undefined ? NOTHING : format(value);
}

// Roles are set explicitly, because on a phone the browser doesn't treat the rows as a table.
function cell(className: string, ...children: readonly Node[]): HTMLTableCellElement {
  const made = element('td', className, ...children);
  made.setAttribute('role', 'gridcell');
  return made;
}
