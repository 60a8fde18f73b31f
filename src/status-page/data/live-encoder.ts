import type { ServerReading, Snapshot, WallClock } from '../../domain/reading.ts';
import type { ServerTarget } from '../../domain/server.ts';
import { arrayText, blocksOf, objectText } from './json-text.ts';
import { IDENTITY_FIELDS, LIVE_FIELDS, type LiveField, type LiveServer } from './live-server.ts';
import type { PanelStatus } from './protocol.ts';

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
 * can be given everything at any time and then receive the same changes as all others. One text has to end before the next begins.
 */
export class LiveEncoder {
  readonly #clock: WallClock;
  readonly #version: string;
  readonly #targets: readonly ServerTarget[];
  readonly #fields = (Object.keys(LIVE_FIELDS) as LiveField[]).map((name) => new SentField(name));
  readonly #changing = this.#fields.filter(({ name }) => !IDENTITY.has(name));
  #panelsText = '';
  /** The time of the last picture; undefined before the first. */
  #time: number | undefined;

  /** Creates an encoder for these servers; others need another encoder. */
  constructor(servers: readonly ServerReading[], version: string, clock: WallClock) {
    this.#clock = clock;
    this.#version = version;
    this.#targets = servers.map(({ target }) => target);
  }

  /** Whether the encoder was created for these servers, under their current names. */
  fits(servers: readonly ServerReading[]): boolean {
    const targets = this.#targets;
    return servers.length === targets.length && servers.every(({ target }, at) => target === targets[at]);
  }

  /** Records a later picture of the same servers, and returns what changed as the JSON of a `Delta`, in blocks of text. */
  *delta(picture: Picture): Generator<string, void, void> {
    yield* this.#look(picture, this.#changing);
    const whole: [LiveField, Iterable<string>][] = [];
    const changes: [LiveField, Iterable<string>][] = [];
    for (const field of this.#changing) {
      const { name, values } = field;
      const places = field.takeChanged();
      if (places.length * 2 > this.#targets.length) whole.push([name, arrayText(values, same)]);
      else if (places.length > 0) changes.push([name, changesText(places, values)]);
    }
    yield* objectText([
      ['time', [JSON.stringify(this.#time)]],
      ...(this.#takePanels(picture.panels) ? [['panels', [this.#panelsText]] as const] : []),
      ['servers', objectText(whole)],
      ['changes', objectText(changes)],
    ]);
  }

  /**
   * Everything as of the last picture, which is this one if there was none before, as the JSON of a `Full`, in blocks of text. A field
   * that no server has is absent.
   */
  *full(picture: Picture): Generator<string, void, void> {
    if (this.#time === undefined) {
      yield* this.#look(picture, this.#fields);
      this.#takePanels(picture.panels);
      for (const field of this.#fields) field.takeChanged();
    }
    const known = this.#fields.filter(({ values }) => values.some((value) => value !== undefined));
    yield* objectText([
      ['version', [JSON.stringify(this.#version)]],
      ['time', [JSON.stringify(this.#time)]],
      ['panels', [this.#panelsText]],
      ['size', [JSON.stringify(this.#targets.length)]],
      ['servers', objectText(known.map(({ name, values }) => [name, arrayText(values, same)]))],
    ]);
  }

  // One server at a time, so that a snapshot is garbage before the next one is made.
  *#look({ servers, now }: Picture, fields: readonly SentField[]): Generator<string, void, void> {
    this.#time = Math.round(this.#clock.toUnixMs(now) / 1_000);
    let place = 0;
    for (const block of blocksOf(servers)) {
      for (const server of block) {
        const snapshot = server.snapshot(now, this.#clock);
        for (const field of fields) field.take(place, snapshot, server, now);
        place += 1;
      }
      yield '';
    }
  }

  /** Whether the panels have changed. */
  #takePanels(panels: readonly PanelStatus[]): boolean {
    const text = JSON.stringify(panels);
    if (text === this.#panelsText) return false;
    this.#panelsText = text;
    return true;
  }
}

const same = (value: unknown) => value;

function* changesText(places: readonly number[], values: readonly Value[]): Generator<string, void, void> {
  yield '[';
  yield* arrayText(places, same);
  yield ',';
  yield* arrayText(places, (place) => values[place]);
  yield ']';
}

function isSame(one: Value, other: Value): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object') return false;
  return one.timestamp_seconds === other.timestamp_seconds && one.reason === other.reason;
}
