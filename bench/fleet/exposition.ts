// Scrapes the exporter like Prometheus.

import { get, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

/** A response to a scrape of `/metrics`. */
export interface Exposition {
  readonly text: string;
  readonly askedUnixMs: number;
  /** The time from the request to the last byte of the compressed response. */
  readonly tookMs: number;
}

const CONNECT_DEADLINE_MS = 180_000;
const STREAMING = /^gameserver_exporter_servers\{[^}]*condition="streaming"[^}]*\} (\d+)/m;

/** Scrapes the exporter with gzip, like Prometheus. */
export async function getExposition(url: string): Promise<Exposition> {
  const askedUnixMs = Date.now();
  const askedAt = performance.now();
  const compressed = await buffer(await getMetrics(url));
  const tookMs = performance.now() - askedAt;
  return { text: (await promisify(gunzip)(compressed)).toString(), askedUnixMs, tookMs };
}

/** Resolves when this many servers stream; rejects at the deadline. */
export async function allStreaming(url: string, servers: number): Promise<void> {
  const deadline = performance.now() + CONNECT_DEADLINE_MS;
  for (;;) {
    const streaming = Number(STREAMING.exec((await getExposition(url)).text)?.[1] ?? 0);
    if (streaming === servers) return;
    if (performance.now() > deadline) {
      throw new Error(`only ${streaming} of ${servers} servers streamed after ${CONNECT_DEADLINE_MS} ms`);
    }
    await delay(1_000);
  }
}

/** Waits for a random time, so that scrapes aren't synchronized with anything else. */
export function randomPause(): Promise<void> {
  return delay(200 + Math.random() * 600);
}

/** Scrapes without a pause until aborted, and discards the responses. */
export async function keepScraping(url: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for await (const _ of await getMetrics(url));
  }
}

function getMetrics(url: string): Promise<IncomingMessage> {
  const headers = { 'Accept-Encoding': 'gzip' };
  return new Promise((resolve, reject) => {
    get(`${url}/metrics`, { headers }, resolve).on('error', reject);
  });
}
