import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { startSimulator } from '../../src/simulator/simulator.ts';
import { freePort } from '../support/free-port.ts';
import { configFile, endPrograms, serveProgram } from '../support/program.ts';

const DIST = new URL('../../dist/', import.meta.url);

/** Writes the URL of every loaded module into a file, one per line. */
const HOOKS = `import { appendFileSync } from 'node:fs';
let file;
export const initialize = (data) => { file = data; };
export async function load(url, context, next) {
  appendFileSync(file, url + '\\n');
  return next(url, context);
}`;

const asUrl = (script: string) => `data:text/javascript,${encodeURIComponent(script)}`;

/** Node.js flags that record what is loaded. */
const writingTo = (file: string) => [
  '--import',
  asUrl(
    `import { register } from 'node:module'; register(${JSON.stringify(asUrl(HOOKS))}, { data: ${JSON.stringify(file)} });`,
  ),
];

afterEach(endPrograms);

/** The modules of the build that are loaded once the only server streams, and is queried if it has a query. */
async function loadedWith(query: string): Promise<readonly string[]> {
  const panel = await startSimulator({ servers: [{ name: 'survival', profile: 'steady' }] });
  try {
    const list = join(dirname(await configFile('')), 'modules');
    await writeFile(list, '');
    const server = `{ id: "${panel.server('survival').identifier}", name: survival${query} }`;
    const lines = [
      'panels:',
      '  - name: main',
      `    url: ${panel.url}`,
      `    api_key: ${panel.apiKey}`,
      `    servers: [${server}]`,
    ];
    const { until } = await serveProgram({ yaml: lines.join('\n'), nodeFlags: writingTo(list) });
    await until('gameserver_collection_streaming', { server: 'survival' }, [1]);
    if (query !== '') await until('gameserver_query_up', { server: 'survival' }, [0]);
    return (await readFile(list, 'utf8')).split('\n').filter((url) => url.startsWith(DIST.href));
  } finally {
    await panel.stop();
  }
}

/** The modules of the build that contain code of the library. */
async function withLibrary(modules: readonly string[]): Promise<readonly string[]> {
  const held = await Promise.all(
    modules.map(async (url) => (await readFile(fileURLToPath(url), 'utf8')).includes('Abiotic Factor')),
  );
  return modules.filter((_, index) => held[index]);
}

describe('the query protocols', () => {
  it("aren't loaded if no query is configured", async () => {
    const modules = await loadedWith('');
    expect(modules.length).toBeGreaterThan(3);
    expect(await withLibrary(modules)).toEqual([]);
  });

  it('are loaded if a query is configured', async () => {
    const modules = await loadedWith(
      `, query: { type: rust, address: '127.0.0.1:${await freePort()}', interval: 10s }`,
    );
    expect(await withLibrary(modules)).toHaveLength(1);
  });
});
