// The configuration of the build.

import { fileURLToPath } from 'node:url';
import { defineConfig } from 'rolldown';
import { offeredProtocols } from './offered-protocols.ts';
import { pageFiles } from './page-files.ts';
import { thirdParty } from './third-party.ts';

/** Packages that gamedig imports, but that no query needs; `left-out.ts` says why. */
const LEFT_OUT = ['got', 'seek-bzip', 'telnet-client'];
const LEFT_OUT_FILE = fileURLToPath(new URL('left-out.ts', import.meta.url));

/** The build options for the packages of the query client. */
export const QUERY_PACKAGES = {
  resolve: { alias: Object.fromEntries(LEFT_OUT.map((name) => [name, LEFT_OUT_FILE])) },
  plugins: [offeredProtocols()],
  treeshake: { moduleSideEffects: [{ test: /node_modules[/\\]gamedig[/\\]/, sideEffects: false }] },
};

// Both builds share the plugin, so that the second one writes the packages of both.
const packages = thirdParty();

// The builds run in this order, and write to the same folder. The first one empties it.
export default defineConfig([
  // One file per command instead of hundreds of files, because finding and loading those took a
  // third of the startup time. Users of the npm package get the dependencies that were tested.
  // Nothing is minified, so that stack traces are readable.
  {
    input: {
      cli: 'src/cli.ts',
      // The programs of worker threads.
      'parse-worker': 'src/config/parse-worker.ts',
      'bcrypt-worker': 'src/http/bcrypt-worker.ts',
      'query-worker': 'src/query/query-worker.ts',
    },
    platform: 'node',
    tsconfig: 'tsconfig.json',
    ...QUERY_PACKAGES,
    transform: { target: 'node20.19' },
    plugins: [...QUERY_PACKAGES.plugins, packages],
    output: {
      dir: 'dist',
      cleanDir: true,
      // All chunks are in one folder, because the program finds its other files by the location of
      // a chunk (src/build-info.ts).
      chunkFileNames: '[name].js',
    },
  },
  // The status page's script.
  {
    input: { page: 'src/status-page/browser/main.ts' },
    platform: 'browser',
    tsconfig: 'src/status-page/browser/tsconfig.json',
    transform: { target: 'es2022' },
    plugins: [pageFiles(), packages],
    output: { dir: 'dist', entryFileNames: 'status-page/[name].js', codeSplitting: false },
  },
]);
