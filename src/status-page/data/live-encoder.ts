import type { ServerReading, WallClock } from '../../domain/reading.ts';
import type { ServerTarget } from '../../domain/server.ts';
import { arrayText, blocksOf, objectText } from './json-text.ts';
import { LIVE_FIELDS, type LiveField, type LiveServer } from './live-server.ts';
import type { PanelsStatus } from './panel-status.ts';

type Value = LiveServer[LiveField];

/** The input of the encoder: the fleet at one instant. */
export interface Picture {
  readonly servers: readonly ServerReading[];
  readonly status: PanelsStatus;
  readonly now: number;
}

/** A field, its values that were sent last, in the order of the servers, and where they have changed since. */
interface SentField {
  readonly field: (typeof LIVE_FIELDS)[number];
  readonly values: Value[];
  changed: number[];
}

/**
 * Encodes the fleet for viewers: everything once, then the changes. It remembers what was sent last, so that a new viewer
 * can be given everything at any time and then receive the same changes as all others. One text has to end before the next begins.
 */
export class LiveEncoder {
  readonly #clock: WallClock;
  readonly #version: string;
  readonly #targets: readonly ServerTarget[];
  readonly #fields = LIVE_FIELDS.map((field): SentField => ({ field, values: [], changed: [] }));
  readonly #changing = this.#fields.filter(({ field }) => !field.isFixed);
  /** What was sent last about the panels: members of the JSON, by name. */
  #status: readonly (readonly [name: string, text: Iterable<string>])[] = [];
  #statusText = '';
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
    for (const sent of this.#changing) {
      const { values, changed: places } = sent;
      const { name } = sent.field;
      sent.changed = [];
      if (places.length * 2 > this.#targets.length) whole.push([name, arrayText(values, same)]);
      else if (places.length > 0) changes.push([name, changesText(places, values)]);
    }
    yield* objectText([
      ['time', [JSON.stringify(this.#time)]],
      ...(this.#takeStatus(picture.status) ? this.#status : []),
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
      this.#takeStatus(picture.status);
      for (const sent of this.#fields) sent.changed = [];
    }
    const known = this.#fields.filter(({ values }) => values.some((value) => value !== undefined));
    yield* objectText([
      ['version', [JSON.stringify(this.#version)]],
      ['time', [JSON.stringify(this.#time)]],
      ...this.#status,
      ['size', [JSON.stringify(this.#targets.length)]],
      ['servers', objectText(known.map(({ field, values }) => [field.name, arrayText(values, same)]))],
    ]);
  }

  // One server at a time, so that a snapshot is garbage before the next one is made.
  *#look({ servers, now }: Picture, fields: readonly SentField[]): Generator<string, void, void> {
    this.#time = Math.round(this.#clock.toUnixMs(now) / 1_000);
    let place = 0;
    for (const block of blocksOf(servers)) {
      for (const server of block) {
        const snapshot = server.snapshot(now, this.#clock);
        for (const { field, values, changed } of fields) {
          const value = field.read(snapshot, server, now);
          if (isSame(value, values[place])) continue;
          values[place] = value;
          changed.push(place);
        }
        place += 1;
      }
      yield '';
    }
  }

  /** Whether the panels have changed. */
  #takeStatus(status: PanelsStatus): boolean {
    const text = JSON.stringify(status);
    if (text === this.#statusText) return false;
    this.#statusText = text;
    this.#status = Object.entries(status).map(([name, value]) => [name, [JSON.stringify(value)]]);
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
  return JSON.stringify(one) === JSON.stringify(other);
}
