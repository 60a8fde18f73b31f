import { expect } from 'vitest';
import { LiveFleet } from '../../src/status-page/browser/live-fleet.ts';
import type { Full } from '../../src/status-page/data/protocol.ts';

const END = '\n\n';

/** Everything that the status page shows: the first event of its stream. */
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

/** The fleet as the status page shows it. */
export async function pageFleet(url: string): Promise<LiveFleet> {
  const text = await pageData(url);
  return new LiveFleet(JSON.parse(text.slice(text.indexOf('{'))) as Full);
}
