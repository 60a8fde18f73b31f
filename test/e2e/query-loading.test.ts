import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { startSimulator } from '../../src/simulator/simulator.ts';
import { freePort } from '../support/free-port.ts';
import { configFile, endPrograms, serveProgram } from '../support/program.ts';

/** Writes the program of every thread that starts into a file, one per line. */
const recordingTo = (file: string) => `import { appendFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import threads from 'node:worker_threads';
threads.Worker = class extends threads.Worker {
  constructor(program, options) {
    super(program, options);
    appendFileSync(${JSON.stringify(file)}, program + '\\n');
  }
};
syncBuiltinESMExports();`;

const asUrl = (script: string) => `data:text/javascript,${encodeURIComponent(script)}`;

afterEach(endPrograms);

/** The threads that have started once the only server streams, and is queried if it has a query. */
async function threadsWith(query: string): Promise<readonly string[]> {
  const panel = await startSimulator({ servers: [{ name: 'survival', profile: 'steady' }] });
  try {
    const list = join(dirname(await configFile('')), 'threads');
    await writeFile(list, '');
    const server = `{ id: "${panel.server('survival').identifier}", name: survival${query} }`;
    const lines = [
      'panels:',
      '  - name: main',
      `    url: ${panel.url}`,
      `    api_key: ${panel.apiKey}`,
      `    servers: [${server}]`,
    ];
    const { until } = await serveProgram({
      yaml: lines.join('\n'),
      nodeFlags: ['--import', asUrl(recordingTo(list))],
    });
    await until('gameserver_collection_streaming', { server: 'survival' }, [1]);
    if (query !== '') await until('gameserver_query_up', { server: 'survival' }, [0]);
    return (await readFile(list, 'utf8')).match(/[\w-]+(?=\.js$)/gm) ?? [];
  } finally {
    await panel.stop();
  }
}

describe('the thread that queries games', () => {
  it("isn't started if no query is configured", async () => {
    expect(await threadsWith('')).not.toContain('query-worker');
  });

  it('is started if a query is configured', async () => {
    const query = `, query: { type: rust, address: '127.0.0.1:${await freePort()}', interval: 10s }`;
    expect(await threadsWith(query)).toContain('query-worker');
  });
});
