import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import threads from 'node:worker_threads';

/** Every function that starts a program. */
const STARTERS = ['exec', 'execFile', 'execFileSync', 'execSync', 'fork', 'spawn', 'spawnSync'] as const;

// Setup file of the unit tests: they need no build and change nothing on the machine, so they can't start a program, such as
// apt-get, or a thread, whose program would come from `dist`. `syncBuiltinESMExports` applies this to named imports, too.
for (const name of STARTERS) {
  Object.assign(childProcess, { [name]: () => refuse('a program') });
}
// `new` doesn't work with arrow functions.
Object.assign(threads, {
  Worker: function Worker() {
    refuse('a thread');
  },
});
syncBuiltinESMExports();

function refuse(what: string): never {
  throw new Error(`a unit test can't start ${what}: move it to test/integration or test/e2e`);
}
