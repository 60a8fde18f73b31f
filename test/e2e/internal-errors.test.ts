import { afterEach, describe, expect, it } from 'vitest';
import { PATIENT_STOP } from '../support/accelerated-node.ts';
import { eventually } from '../support/eventually.ts';
import { endPrograms, serveProgram } from '../support/program.ts';

const YAML = [
  'panels:',
  '  - name: main',
  '    url: http://127.0.0.1:1',
  '    api_key: ptlc_TopSecretKeyOfThisTest',
  '    servers: [{ id: 1a7ce997, name: survival }]',
].join('\n');

const TOTAL = 'gameserver_exporter_internal_errors_total';

afterEach(endPrograms);

/** Flags that make the program run this statement, which throws, on each SIGUSR2. */
const throwing = (statement: string) => [
  ...PATIENT_STOP,
  '--import',
  `data:text/javascript,${encodeURIComponent(`process.on('SIGUSR2', () => { ${statement} });`)}`,
];

describe('an error that nothing handles', () => {
  it.each([
    ['an exception', "setImmediate(() => { throw new TypeError('a bug of a test'); });"],
    ['a rejection', "void Promise.reject(new TypeError('a bug of a test'));"],
  ])('is logged once with its stack, and counted, and the exporter goes on: %s', async (_what, statement) => {
    const { process, scrape, until } = await serveProgram({
      yaml: YAML,
      flags: ['--log.format', 'json'],
      nodeFlags: throwing(statement),
    });
    await until(TOTAL, {}, [0]);
    for (const count of [1, 2]) {
      process.kill('SIGUSR2');
      await until(TOTAL, {}, [count]);
    }
    const logged = () =>
      (process.stdout + process.stderr).split('\n').filter((line) => line.includes('a bug of a test'));
    await eventually(() => expect(logged()).toHaveLength(1));
    expect(JSON.parse(logged()[0] ?? '')).toMatchObject({
      level: 'error',
      cause: 'unexpected',
      err: {
        type: 'TypeError',
        stack: expect.stringMatching(/^TypeError: a bug of a test\n +at /) as string,
      },
    });
    await scrape();
    process.kill('SIGTERM');
    expect(await process.ended).toEqual({ code: 0, signal: null });
  });
});
