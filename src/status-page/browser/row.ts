import { isOff } from '../../domain/server.ts';
import {
  readStrip,
  STRIP_POINTS,
  STRIP_STATES,
  type StripPart,
  type StripState,
} from '../../domain/state-strip.ts';
import { ATTENTION_TROUBLES, groupOf } from '../data/attention.ts';
import type { LiveServer } from '../data/live-server.ts';
import { isDiskFull } from '../data/trouble.ts';
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
import { ago, drawing, element, setAttribute, setText, setTime } from './dom.ts';
import { type LiveFleet, problemAt, troubleSince } from './live-fleet.ts';

const TITLES: Readonly<Record<StripState, string>> = {
  unknown: 'no data',
  running: 'running',
  changing: 'starting or stopping',
  off: 'off',
  down: 'down',
};

const MINUTES = 2;

/** A server's states in the last two hours, drawn as a strip. */
class Strip {
  readonly element = drawing('svg', {
    viewBox: `0 0 ${STRIP_POINTS} 1`,
    preserveAspectRatio: 'none',
    class: 'strip',
    role: 'img',
  });
  readonly #title = drawing('title');
  readonly #paths = STRIP_STATES.map((state) => drawing('path', { class: state }));
  #text: string | undefined;

  constructor() {
    this.element.append(this.#title, ...this.#paths);
  }

  /** Draws a strip in the form of `stripText`; if it is empty, nothing is known. */
  show(text: string): void {
    if (text === this.#text) return;
    this.#text = text;
    const shapes = STRIP_STATES.map(() => '');
    const points = STRIP_STATES.map(() => 0);
    let at = 0;
    const { runs, seconds } = readStrip(text === '' ? `u${STRIP_POINTS}` : text);
    for (const run of runs) {
      const state = STRIP_STATES.indexOf(run.state);
      shapes[state] = `${shapes[state] ?? ''}M${at} 0h${run.amount}v1h-${run.amount}z`;
      points[state] = (points[state] ?? 0) + run.amount;
      at += run.amount;
    }
    for (const [state, path] of this.#paths.entries()) setAttribute(path, 'd', shapes[state] ?? '');
    this.#title.textContent = stripWords(points, seconds);
  }
}

/** How long a server was in which states, the most serious first: the points show the worst of two minutes, and the seconds for how long. */
function stripWords(points: readonly number[], seconds: readonly StripPart[]): string {
  const known = points.reduce((sum, count) => sum + count, 0) - (points[0] ?? 0);
  const others = seconds.reduce((sum, { amount }) => sum + amount, 0);
  const running = Math.max(0, known * MINUTES * 60 - others);
  const parts = [...seconds.toReversed(), { state: 'running' as const, amount: running }]
    .filter(({ amount }) => amount > 0)
    .map(({ state, amount }) => `${TITLES[state]} ${span(amount)}`);
  const unknown = (points[0] ?? 0) * MINUTES;
  return `Last two hours: ${[...parts, ...(unknown > 0 ? [`${TITLES.unknown} ${unknown} min`] : [])].join(', ')}`;
}

/** One server's row of the table: its elements are created once, and after that only changes are written. */
export class ServerRow {
  readonly element = element('tr', 'server');
  readonly #name = element('bdi', 'name');
  readonly #place = element('span', 'sub');
  readonly #state = element('span', 'badge');
  readonly #condition = element('span', 'sub');
  readonly #strip = new Strip();
  readonly #trouble = new TroubleLines();
  readonly #cpu = new UsageMeter('CPU');
  readonly #memory = new UsageMeter('Mem');
  readonly #disk = new UsageMeter('Disk');
  readonly #receive = element('span');
  readonly #transmit = element('span');
  readonly #players = element('span');

  constructor() {
    this.element.setAttribute('role', 'row');
    this.element.ariaLevel = '1';
    this.element.tabIndex = -1;
    this.element.append(
      cell('who', this.#name, this.#place),
      cell('state', this.#state, this.#condition),
      cell('strip', this.#strip.element),
      cell('trouble', ...this.#trouble.elements),
      cell('cpu', this.#cpu.element),
      cell('memory', this.#memory.element),
      cell('disk', this.#disk.element),
      cell('network', this.#receive, this.#transmit),
      cell('players', this.#players),
    );
  }

  show(fleet: LiveFleet, server: LiveServer): void {
    this.#showName(fleet, server);
    this.#showState(fleet, server);
    this.#strip.show(server.strip);
    this.#trouble.show(fleet, server);
    setAttribute(this.element, 'data-troubled', fleet.isTroubled(server) ? '' : undefined);
    // Of a server that is off, only its disk is in use.
    const used = isOff(server.state) ? undefined : server;
    const level = server.attention && ATTENTION_TROUBLES[server.attention].severity;
    setAttribute(this.element, 'data-level', level);
    this.#cpu.show(
      used?.cpu_usage_cores,
      server.cpu_limit_cores,
      CORES,
      isAbout(server, 'cpu') ? level : undefined,
    );
    this.#memory.show(used?.memory_usage_bytes, server.memory_limit_bytes, SIZE, undefined);
    this.#disk.show(
      server.disk_usage_bytes,
      server.disk_limit_bytes,
      SIZE,
      isAbout(server, 'disk') ? level : undefined,
    );
    const received = used?.network_receive_bytes_per_second;
    const sent = used?.network_transmit_bytes_per_second;
    setText(this.#receive, received === undefined ? NOTHING : `↓ ${rate(received)}`);
    setText(this.#transmit, sent === undefined ? '' : `↑ ${rate(sent)}`);
    setText(this.#players, playerWords(server));
  }

  #showName({ panels, hasNodes }: LiveFleet, { server, panel, node, egg }: LiveServer): void {
    setText(this.#name, server);
    const place = [panels.length > 1 ? panel : '', hasNodes ? node : '', egg]
      .filter((word) => word !== undefined && word !== '')
      .join(' · ');
    setText(this.#place, place);
    setAttribute(this.element.cells[0] ?? this.element, 'title', `${server}\n${place}`);
  }

  #showState(fleet: LiveFleet, server: LiveServer): void {
    const { state, condition, attention } = server;
    setText(this.#state, stateTitle(state));
    setAttribute(
      this.#state,
      'data-state',
      isDown(server) || server.attention === 'no_data' ? 'down' : state,
    );
    setText(this.#condition, monitoredWords(fleet, server));
    setAttribute(this.element, 'data-condition', condition);
    setAttribute(this.element, 'data-severity', problemAt(server)?.severity);
    setAttribute(this.element, 'data-attention', attention);
  }
}

/** Players online and the maximum, such as 12/40; empty if unknown. */
export function playerWords({ players, players_max: most }: LiveServer): string {
  if (players === undefined) return '';
  return most === undefined ? String(players) : `${players}/${most}`;
}

/** How the server is monitored; the sample of a polled server may be some time old. */
function monitoredWords(fleet: LiveFleet, server: LiveServer): string {
  const { condition, blocked } = server;
  // Not shown while it streams, as every server without a problem does; a failure is shown as the problem.
  if ((condition === 'streaming' || condition === 'failing') && blocked === undefined) return '';
  const words = blocked ?? conditionTitle(condition);
  const age = fleet.age(server) ?? 0;
  return condition === 'polling' && age > 0 ? `${words} · ${span(age)}` : words;
}

/** Whether the server's problem is this resource, whose bar then has the color of the problem. */
function isAbout(server: LiveServer, resource: 'cpu' | 'disk'): boolean {
  const { attention } = server;
  if (resource === 'cpu') return attention === 'cpu_saturated';
  return attention === 'disk_nearly_full' || (isDown(server) && isDiskFull(server));
}

function isDown({ attention }: LiveServer): boolean {
  return attention !== undefined && groupOf(attention) === 'down';
}

/** A server's problem, and since when; below it, what to do. */
class TroubleLines {
  readonly #title = element('span', 'cause');
  readonly #since = element('time', 'sub since');
  readonly #action = element('span', 'words');
  readonly elements = [element('span', 'what', this.#title, this.#since), this.#action];

  show(fleet: LiveFleet, server: LiveServer): void {
    const trouble = fleet.troubleAt(server);
    const since = trouble && sinceWords(fleet, server);
    setText(this.#title, trouble?.title ?? '');
    setAttribute(this.#title, 'title', trouble?.title);
    setTime(this.#since, since?.at, since?.text ?? '');
    setText(this.#action, trouble?.action ?? '');
    const [what] = this.elements;
    if (what !== undefined) setAttribute(what, 'data-severity', trouble?.severity);
  }
}

/** Since when the server has its problem; if that is unknown, how long ago it crashed. */
function sinceWords(
  fleet: LiveFleet,
  server: LiveServer,
): { readonly at: number; readonly text: string } | undefined {
  const since = troubleSince(server);
  if (since !== undefined) {
    // The last sample may be older than the cause.
    const isDataAge = server.attention === 'no_data';
    return {
      at: since,
      text: isDataAge ? `no data for ${span(fleet.time - since)}` : ago(since, fleet.time),
    };
  }
  const crash = fleet.crashBeside(server);
  return crash && { at: crash.at, text: `${crash.title} ${ago(crash.at, fleet.time)}` };
}

/** How amounts and limits of a resource are shown. */
interface Unit {
  readonly amount: (value: number) => string;
  readonly limit: (value: number) => string;
}

const CORES: Unit = { amount: cores, limit: coreLimit };
const SIZE: Unit = { amount: size, limit: sizeLimit };

/** Usage of a limited resource: the amount, its percentage of the limit, and a bar; hovering shows the limit. */
class UsageMeter {
  readonly element: HTMLDivElement;
  readonly #amount = element('span', 'main');
  readonly #percent = element('span', 'sub');
  readonly #bar = element('span', 'bar');
  readonly #fill = element('span', 'fill');

  constructor(label: string) {
    this.#bar.append(this.#fill);
    this.#bar.ariaHidden = 'true';
    this.element = element('div', 'usage', this.#amount, this.#percent, this.#bar);
    this.#amount.dataset['label'] = label;
  }

  /** `level` is the severity of the server's problem if it is about this resource. */
  show(used: number | undefined, limit: number | undefined, unit: Unit, level: string | undefined): void {
    const percent = share(used, limit);
    setText(this.#amount, used === undefined ? NOTHING : unit.amount(used));
    setText(this.#percent, percent === undefined ? '' : `${percent} %`);
    setAttribute(
      this.element,
      'title',
      percent === undefined || limit === undefined ? undefined : `${percent} % of ${unit.limit(limit)}`,
    );
    setAttribute(this.element, 'data-level', level);
    this.#bar.hidden = percent === undefined;
    const width = `${Math.min(100, percent ?? 0)}%`;
    if (this.#fill.style.width !== width) this.#fill.style.width = width;
    setAttribute(this.#fill, 'data-level', level);
  }
}

// Roles are set explicitly, because on a phone the browser doesn't treat the rows as a table.
function cell(className: string, ...children: readonly Node[]): HTMLTableCellElement {
  const made = element('td', className, ...children);
  made.setAttribute('role', 'gridcell');
  return made;
}
