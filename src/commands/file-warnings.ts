// The warnings of `check` about key files that others can read.

import { stat } from 'node:fs/promises';
import { quote } from '../yaml/quoting.ts';
import type { SecretFile } from '../yaml/setting-types.ts';
import { isReadableByAll } from './file-modes.ts';

/** A warning for each key file that all users of this machine can read. */
export async function readableByAll(files: readonly SecretFile[]): Promise<readonly string[]> {
  const found = await Promise.all(
    files.map(async ({ file, shown, place }) => {
      const mode = (await stat(file)).mode & 0o777;
      if (!isReadableByAll(mode)) return [];
      const octal = mode.toString(8).padStart(4, '0');
      return [
        `${place}: all users of this machine can read the file ${quote(shown)} (mode ${octal}): run \`chmod o-rwx ${shown}\``,
      ];
    }),
  );
  return found.flat();
}
