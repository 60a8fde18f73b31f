// Writes a file whole or not at all, whenever the machine stops.

import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Readable only by the owner. */
const PRIVATE = 0o600;

/**
 * Replaces a file by these blocks of text, each written before the next is asked for. Until then,
 * and if that fails, the file stays as it was. Only one writer at a time may do so.
 *
 * @throws Error of the file system
 */
export async function writeWhole(path: string, blocks: Iterable<string>): Promise<void> {
  const draft = `${path}.tmp`;
  try {
    const file = await open(draft, 'w', PRIVATE);
    try {
      for (const block of blocks) await file.writeFile(block);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Without this, the new name may not survive a power cut. */
async function syncFolder(path: string): Promise<void> {
  // Windows can't open a folder, and some file systems can't sync one; the file is whole in any
  // case.
  const folder = await open(path, 'r').catch(() => undefined);
  await folder?.sync().catch(() => undefined);
  await folder?.close();
}
