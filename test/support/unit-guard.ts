// A setup file that keeps unit tests from starting programs and threads.
import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import threads from 'node:worker_threads';

/** All functions that start a program. */
const STARTERS = ['exec', 'execFile', 'execFileSync', 'execSync', 'fork', 'spawn', 'spawnSync'] as const;

// Unit tests need no build and change nothing on the machine. They must not start programs, such as
// apt-get, or threads, which run files of `dist`. `syncBuiltinESMExports` also replaces named
// imports.
for (const name of STARTERS) {
  Object.assign(childProcess, { [name]: () => refuse('a program') });
}
// A normal function, because `new` doesn't work with arrow functions.
Object.assign(threads, {
  Worker: function Worker() {
    refuse('a thread');
  },
});
syncBuiltinESMExports();

function refuse(what: string): never {
  throw new Error(`a unit test can't start ${what}: move it to test/integration or test/e2e`);
}
