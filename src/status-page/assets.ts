// The page's files from the last build.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { DIST_URL } from '../build-info.ts';

/** The folder with the built files. */
const FOLDER = new URL('status-page/', DIST_URL);

const SCRIPT = 'text/javascript; charset=utf-8';
const STYLE = 'text/css; charset=utf-8';

/**
 * Every file that the page loads, with its type. The table is fixed, so that no request reads the
 * file system.
 */
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  'page.css': STYLE,
  'page.js': SCRIPT,
  'icon.svg': 'image/svg+xml',
};

const compress = promisify(gzip);

/** A file that the page loads. */
export interface Asset {
  readonly type: string;
  readonly bodies: Readonly<Record<'identity' | 'gzip', ReturnType<typeof fileBody>>>;
  readonly etag: string;
}

/** Reads the files of the last build, by their names below `assets/`. Rejects if one is missing. */
export async function loadAssets(): Promise<ReadonlyMap<string, Asset>> {
  const assets = Object.entries(CONTENT_TYPES).map(
    async ([name, type]) => [name, await compressAsset(type, await readFile(new URL(name, FOLDER)))] as const,
  );
  return new Map(await Promise.all(assets));
}

/** A file of this type and content. */
export async function compressAsset(type: string, plain: Buffer<ArrayBuffer>): Promise<Asset> {
  const etag = `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`;
  return { type, bodies: { identity: fileBody(plain), gzip: fileBody(await compress(plain)) }, etag };
}

/** The bytes of a file, as a body that several responses may send. */
function fileBody(bytes: Uint8Array) {
  return { chunks: [bytes], bytes: bytes.length };
}
