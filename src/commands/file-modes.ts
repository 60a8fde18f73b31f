// The access to a file that its mode grants.

import { constants } from 'node:fs';

/**
 * Whether all users can read a file of this mode. Its group doesn't count, because it is often a
 * service's.
 */
export function isReadableByAll(mode: number): boolean {
  // On Windows, the mode doesn't show who may read a file.
  return process.platform !== 'win32' && (mode & constants.S_IROTH) !== 0;
}
