import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename } from 'node:path';
import type { Plugin } from 'rolldown';

const FILES = ['uplot/dist/uPlot.esm.js', 'uplot/dist/uPlot.min.css'];

/** Copies the status page's chart library, which the browser loads as it is, into `uplot`. */
export function chartLibrary(): Plugin {
  const { resolve } = createRequire(import.meta.url);
  return {
    name: 'chart-library',
    async generateBundle() {
      for (const file of FILES) {
        const source = await readFile(resolve(file));
        this.emitFile({ type: 'asset', fileName: `uplot/${basename(file)}`, source });
      }
    },
  };
}
