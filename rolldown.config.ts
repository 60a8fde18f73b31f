import { defineConfig } from 'rolldown';
import { chartLibrary } from './scripts/build/chart-library.ts';
import { thirdParty } from './scripts/build/third-party.ts';

// One file a command instead of hundreds: to find and load those took a third of a start. And who installs the package gets what was
// tested, with no package beside it. Nothing is minified, for the sake of stack traces.
export default defineConfig({
  input: {
    cli: 'src/cli.ts',
    // The programs of threads.
    'parse-worker': 'src/config/parse-worker.ts',
    'bcrypt-worker': 'src/http/bcrypt-worker.ts',
  },
  platform: 'node',
  tsconfig: 'tsconfig.json',
  transform: { target: 'node20.19' },
  plugins: [chartLibrary(), thirdParty(['node_modules/uplot'])],
  output: {
    dir: 'dist',
    cleanDir: true,
    // What is read beside the program is found from where a chunk is (src/built.ts), so that all are in one folder.
    chunkFileNames: '[name].js',
  },
});
