import type { ServerReading, Snapshot, WallClock } from '../../domain/reading.ts';
import type { ServerTarget } from '../../domain/server.ts';
import { IDENTITY_FIELDS, LIVE_FIELDS, type LiveField, type LiveServer } from './live-server.ts';
import type { Delta, Full, PanelStatus } from './protocol.ts';

type Value = LiveServer[LiveField];

const IDENTITY: ReadonlySet<LiveField> = new Set<LiveField>(IDENTITY_FIELDS);

/** The input of the encoder: the fleet at one instant. */
export interface Picture {
  readonly servers: readonly ServerReading[];
  readonly panels: readonly PanelStatus[];
  readonly now: number;
}

/** The values of one field that were sent last, in the order of the servers, and where they have changed since. */
class SentField {
  readonly name: LiveField;
  readonly values: Value[] = [];
  #changed: number[] = [];
  readonly #read: (server: Snapshot, reading: ServerReading, now: number) => Value;

  constructor(name: LiveField) {
    this.name = name;
    this.#read = LIVE_FIELDS[name];
  }

  take(place: number, snapshot: Snapshot, reading: ServerReading, now: number): void {
    const value = this.#read(snapshot, reading, now);
    if (isSame(value, this.values[place])) return;
    this.values[place] = value;
    this.#changed.push(place);
  }

  /** The places whose value changed since the last call. */
  takeChanged(): readonly number[] {
    const changed = this.#changed;
    this.#changed = [];
    return changed;
  }
}

/**
 * Encodes the fleet for viewers: everything once, then the changes. It remembers what was sent last, so that a new viewer
 * can be given everything at any time and then receive the same changes as all others.
 */
export class LiveEncoder {
  readonly #clock: WallClock;
  readonly #version: string;
  readonly #targets: readonly ServerTarget[];
  readonly #fields = (Object.keys(LIVE_FIELDS) as LiveField[]).map((name) => new SentField(name));
  readonly #changing = this.#fields.filter(({ name }) => !IDENTITY.has(name));
  #panels: readonly PanelStatus[] = [];
  #panelsText = '';
  #time = 0;

  /** Creates an encoder for the servers in this picture; other servers need another encoder. */
  constructor(picture: Picture, version: string, clock: WallClock) {
    this.#clock = clock;
    this.#version = version;
    this.#targets = picture.servers.map(({ target }) => target);
    this.#look(picture, this.#fields);
    this.#panelChange(picture.panels);
    for (const field of this.#fields) field.takeChanged();
  }

  /** Whether the encoder was created for these servers, under their current names. */
  fits(servers: readonly ServerReading[]): boolean {
    const targets = this.#targets;
    return servers.length === targets.length && servers.every(({ target }, at) => target === targets[at]);
  }

  /** Records a later picture of the same servers, and returns what changed. */
  delta(picture: Picture): Delta {
    this.#look(picture, this.#changing);
    const whole: Partial<Record<LiveField, readonly Value[]>> = {};
    const changes: Partial<Record<LiveField, readonly [readonly number[], readonly Value[]]>> = {};
    for (const field of this.#changing) {
      const { name, values } = field;
      const places = field.takeChanged();
      if (places.length * 2 > this.#targets.length) whole[name] = values;
      else if (places.length > 0) changes[name] = [places, places.map((place) => values[place])];
    }
    return { time: this.#time, ...this.#panelChange(picture.panels), servers: whole, changes };
  }

  /** Everything, as of the last picture; a field that no server has is absent. */
  full(): Full {
    const known = this.#fields.filter(({ values }) => values.some((value) => value !== undefined));
    return {
      version: this.#version,
      time: this.#time,
      panels: this.#panels,
      size: this.#targets.length,
      servers: Object.fromEntries(known.map(({ name, values }) => [name, values])),
    };
  }

  // One server at a time, so that a snapshot is garbage before the next one is made.
  #look({ servers, now }: Picture, fields: readonly SentField[]): void {
    this.#time = Math.round(this.#clock.toUnixMs(now) / 1_000);
    for (const [place, server] of servers.entries()) {
      const snapshot = server.snapshot(now, this.#clock);
      for (const field of fields) field.take(place, snapshot, server, now);
    }
  }

  #panelChange(panels: readonly PanelStatus[]): Pick<Delta, 'panels'> {
    const text = JSON.stringify(panels);
    if (text === this.#panelsText) return {};
    this.#panelsText = text;
    this.#panels = panels;
    return { panels };
  }
}

function isSame(one: Value, other: Value): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object') return false;
  return one.timestamp_seconds === other.timestamp_seconds && one.reason === other.reason;
}
