// The data of the status page.
import { expect } from 'vitest';
import type { ServerReading } from '../../src/domain/reading.ts';
import { LiveFleet } from '../../src/status-page/browser/live-fleet.ts';
import { type LiveUpdate, updateText } from '../../src/status-page/data/live-update.ts';
import { type Picture, takePicture } from '../../src/status-page/data/picture.ts';
import { ManualClock } from './manual-clock.ts';
import { READ_AT } from './readings.ts';

const END = '\n\n';

/** The exporter's version in these tests. */
export const VERSION = '1.2.3';

/** The first event of the stream, which contains everything on the status page. */
export async function pageData(url: string): Promise<string> {
  const { body } = await fetch(new URL('/api/v1/stream', url));
  let text = '';
  for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece;
    if (text.includes(END)) break;
  }
  expect(text).toMatch(/^event: full\n/);
  return text.slice(0, text.indexOf(END));
}

/** The fleet on the status page. */
export async function pageFleet(url: string): Promise<LiveFleet> {
  const text = await pageData(url);
  return new LiveFleet(JSON.parse(text.slice(text.indexOf('{'))) as LiveUpdate);
}

/** A picture of these servers, with panels that have no problems. */
export function pictureOf(servers: readonly ServerReading[], now = READ_AT, before?: Picture): Picture {
  const clock = new ManualClock(now);
  const fleet = { panels: () => [], servers: () => servers };
  const walk = takePicture({ fleet, clock, version: VERSION, rateLimited: () => 0 }, before);
  for (;;) {
    const { done, value } = walk.next();
    if (done === true) return value;
  }
}

/** The update for a viewer that has the picture `before`, or none. */
export function updateOf(before: Picture | undefined, after: Picture): LiveUpdate {
  return JSON.parse([...updateText(VERSION, before, after)].join('')) as LiveUpdate;
}

/** The fleet on the status page, with these servers. */
export function shownFleet(servers: readonly ServerReading[], now = READ_AT): LiveFleet {
  return new LiveFleet(updateOf(undefined, pictureOf(servers, now)));
}
