import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { BUILT } from '../built.ts';
import { PAGE_ICON, PAGE_STYLE } from './page-style.ts';

const compress = promisify(gzip);

/** A file that the page loads. */
export interface Asset {
  readonly type: string;
  readonly plain: Uint8Array<ArrayBuffer>;
  readonly gzip: Uint8Array<ArrayBuffer>;
  readonly etag: string;
}

const SCRIPT = 'text/javascript; charset=utf-8';
const STYLE = 'text/css; charset=utf-8';

/** Modules that the page shares with the server. */
const SHARED = ['status/protocol.js', 'status/format.js'];

/** Every file that the page loads, by its name below `assets/`: a closed set, so that no request reaches the file system. */
export async function loadAssets(): Promise<ReadonlyMap<string, Asset>> {
  const texts: [name: string, type: string, text: string | Promise<string>][] = [
    ['page.css', STYLE, PAGE_STYLE],
    ['icon.svg', 'image/svg+xml', PAGE_ICON],
    ...(await builtAssets()),
  ];
  const assets = texts.map(
    async ([name, type, text]) => [name, await assetOf(type, Buffer.from(await text))] as const,
  );
  return new Map(await Promise.all(assets));
}

/** What a build makes for the page: its own scripts and the chart library; none where nothing was built, for the page does without. */
async function builtAssets(): Promise<[string, string, Promise<string>][]> {
  const scripts = await scriptsIn(new URL('web/', BUILT));
  if (!scripts.includes('app.js')) return [];
  const read = (path: string) => readFile(new URL(path, BUILT), 'utf8');
  const names = [...scripts.map((file) => `web/${basename(file)}`), ...SHARED];
  return [
    ...names.map((name): [string, string, Promise<string>] => [name, SCRIPT, read(name)]),
    ['uplot.js', SCRIPT, read('uplot/uPlot.esm.js')],
    ['uplot.css', STYLE, read('uplot/uPlot.min.css')],
  ];
}

async function scriptsIn(folder: URL): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((file) => file.endsWith('.js'));
  } catch {
    return [];
  }
}

async function assetOf(type: string, plain: Buffer<ArrayBuffer>): Promise<Asset> {
  const etag = `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`;
  return { type, plain, gzip: Buffer.from(await compress(plain)), etag };
}
