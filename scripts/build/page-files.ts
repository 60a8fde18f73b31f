import { readFile } from 'node:fs/promises';
import type { Plugin } from 'rolldown';

/** The status page's files that need no build, by their names in the build: its own and the chart library's. */
const FILES = {
  'page.css': 'src/status-page/browser/page.css',
  'icon.svg': 'src/status-page/browser/icon.svg',
  'uplot.js': 'node_modules/uplot/dist/uPlot.esm.js',
  'uplot.css': 'node_modules/uplot/dist/uPlot.min.css',
};

/** Copies the files that the browser loads as they are into `status-page`, beside the page's script. */
export function pageFiles(): Plugin {
  return {
    name: 'page-files',
    async generateBundle() {
      for (const [name, path] of Object.entries(FILES)) {
        this.emitFile({ type: 'asset', fileName: `status-page/${name}`, source: await readFile(path) });
      }
    },
  };
}
