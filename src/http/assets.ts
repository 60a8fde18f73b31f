import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
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

/** Where the built program is: here, or beside the sources when they run as they are. */
const BUILDS = [new URL('../', import.meta.url), new URL('../../dist/', import.meta.url)];

/** Every file that the page loads, by its name below `assets/`: a closed set, so that no request reaches the file system. */
export async function loadAssets(): Promise<ReadonlyMap<string, Asset>> {
  const chart = createRequire(import.meta.url).resolve('uplot/dist/uPlot.esm.js');
  const texts: [name: string, type: string, text: string | Promise<string>][] = [
    ['page.css', STYLE, PAGE_STYLE],
    ['icon.svg', 'image/svg+xml', PAGE_ICON],
    ['uplot.js', SCRIPT, readFile(chart, 'utf8')],
    ['uplot.css', STYLE, readFile(chart.replace(/[^/\\]*$/, 'uPlot.min.css'), 'utf8')],
    ...(await scripts()),
  ];
  const assets = texts.map(
    async ([name, type, text]) => [name, await assetOf(type, Buffer.from(await text))] as const,
  );
  return new Map(await Promise.all(assets));
}

/** The page's own scripts, as built; none where nothing was built, for the page does without. */
async function scripts(): Promise<[string, string, Promise<string>][]> {
  for (const build of BUILDS) {
    const files = await scriptsIn(new URL('web/', build));
    if (!files.includes('app.js')) continue;
    const names = [...files.map((file) => `web/${basename(file)}`), ...SHARED];
    return names.map((name) => [name, SCRIPT, readFile(new URL(name, build), 'utf8')]);
  }
  return [];
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
