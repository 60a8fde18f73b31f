import { fileURLToPath } from 'node:url';
import { defineConfig } from 'rolldown';
import { offeredProtocols } from './offered-protocols.ts';
import { pageFiles } from './page-files.ts';
import { thirdParty } from './third-party.ts';

/** Packages that gamedig imports and no query reaches; left-out.ts has the reasons. */
const LEFT_OUT = ['got', 'seek-bzip', 'telnet-client'];
const LEFT_OUT_FILE = fileURLToPath(new URL('left-out.ts', import.meta.url));

/** What the build makes of the packages that the query client takes in. */
export const QUERY_PACKAGES = {
  resolve: { alias: Object.fromEntries(LEFT_OUT.map((name) => [name, LEFT_OUT_FILE])) },
  plugins: [offeredProtocols()],
  treeshake: { moduleSideEffects: [{ test: /node_modules[/\\]gamedig[/\\]/, sideEffects: false }] },
};

// Both builds share it, so that what the second one writes covers the packages of both.
const packages = thirdParty();

// The configurations are built in this order, into the same folder; the first one empties it.
export default defineConfig([
  // One file per command instead of hundreds, since finding and loading those took a third of a start. Users of the npm package get
  // the dependencies that were tested. Nothing is minified, so that stack traces are readable.
  {
    input: {
      cli: 'src/cli.ts',
      // The programs of threads.
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
      // What is read beside the program is found from where a chunk is (src/build-info.ts), so all chunks are in one folder.
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
