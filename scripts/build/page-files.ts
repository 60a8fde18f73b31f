// The part of the build that writes files of the status page.

import { readFile } from 'node:fs/promises';
import type { Plugin } from 'rolldown';

const BROWSER = 'src/status-page/browser';

/** The status page's files that need no build, by name. A file may consist of several parts. */
const FILES = {
  'page.css': ['theme', 'frame', 'table', 'cards', 'details'].map((name) => `${BROWSER}/${name}.css`),
  'icon.svg': [`${BROWSER}/icon.svg`],
};

/** Writes these files to `status-page`, next to the page's script. */
export function pageFiles(): Plugin {
  return {
    name: 'page-files',
    async generateBundle() {
      for (const [name, paths] of Object.entries(FILES)) {
        const parts = await Promise.all(paths.map((path) => readFile(path)));
        this.emitFile({ type: 'asset', fileName: `status-page/${name}`, source: Buffer.concat(parts) });
      }
    },
  };
}
