// Writes a file completely or not at all, even if the machine crashes.

import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Readable only by the owner. */
const PRIVATE = 0o600;

/**
 * Replaces a file with these blocks of text. Each is written before the next is requested. Until
 * the end, and after a failure, the file stays unchanged. There must be only one writer at a time.
 *
 * @throws Error of the file system
 */
export async function writeAtomically(path: string, blocks: Iterable<string>): Promise<void> {
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

/** Makes sure that the new name survives a power failure. */
async function syncFolder(path: string): Promise<void> {
  // Windows can't open a folder, and some file systems can't sync one. The file is complete in any
  // case.
  const folder = await open(path, 'r').catch(() => undefined);
  await folder?.sync().catch(() => undefined);
  await folder?.close();
}
