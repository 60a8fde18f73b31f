import { fileURLToPath } from 'node:url';
import { type OutputChunk, rolldown } from 'rolldown';
import { beforeAll, describe, expect, it } from 'vitest';
import { QUERY_PACKAGES } from '../../../scripts/build/rolldown.config.ts';
import { thirdParty } from '../../../scripts/build/third-party.ts';

const sourceOf = (file: string) => fileURLToPath(new URL(`../../../src/query/${file}`, import.meta.url));

/** The maximum size of the code for queries, which is only loaded if servers are queried. */
const MAX_CHUNK_BYTES = 600_000;

let chunks: readonly OutputChunk[];
let licenses: string;

/** The packages in a chunk. */
const packagesIn = ({ moduleIds }: OutputChunk) =>
  new Set(moduleIds.flatMap((id) => /node_modules[/\\]((?:@[^/\\]+[/\\])?[^/\\]+)/.exec(id)?.[1] ?? []));

beforeAll(async () => {
  const bundle = await rolldown({
    input: { ask: sourceOf('ask-players.ts'), 'query-worker': sourceOf('query-worker.ts') },
    platform: 'node',
    tsconfig: 'tsconfig.json',
    ...QUERY_PACKAGES,
    plugins: [...QUERY_PACKAGES.plugins, thirdParty()],
  });
  const { output } = await bundle.generate({ format: 'esm' });
  await bundle.close();
  chunks = output.filter((file) => file.type === 'chunk');
  const notices = output.find(({ fileName }) => fileName === 'THIRD-PARTY-LICENSES.txt');
  licenses = notices?.type === 'asset' ? String(notices.source) : '';
});

describe('the query protocols in the build', () => {
  it("are only in the thread's program", () => {
    const [library, ...others] = chunks
      .filter((chunk) => packagesIn(chunk).size > 0)
      .toSorted(
        (a, b) => Number(b.fileName === 'query-worker.js') - Number(a.fileName === 'query-worker.js'),
      );
    // The main thread needs the table of games, because it contains their ports.
    const modules = others.flatMap(({ moduleIds }) => moduleIds.filter((id) => id.includes('node_modules')));
    expect(modules).toEqual([expect.stringMatching(/gamedig[/\\]lib[/\\]games\.js$/)]);
    expect(library?.fileName).toBe('query-worker.js');
    const imported = chunks.flatMap(({ imports, dynamicImports }) => [...imports, ...dynamicImports]);
    expect(imported).not.toContain(library?.fileName);
  });

  it('include the packages that they need, but no HTTP client, no telnet client and no decompressor', () => {
    const packages = new Set(chunks.flatMap((chunk) => [...packagesIn(chunk)]));
    const needed = ['gamedig', 'iconv-lite', 'long', 'safer-buffer', 'varint'];
    expect([...packages].sort()).toEqual(needed);
    const named = [...licenses.matchAll(/^(\S+) \S+ \((?:MIT|Apache-2\.0)\)$/gm)].map(([, name]) => name);
    expect(named).toEqual(needed);
  });

  it('include no protocol that contacts a third party', () => {
    const bytesOf = (protocol: string) =>
      chunks
        .flatMap(({ modules }) => Object.entries(modules))
        .find(([id]) => id.endsWith(`protocols/${protocol}.js`))?.[1].renderedLength;
    expect(bytesOf('valve')).toBeGreaterThan(1_000);
    for (const left of ['epic', 'asa', 'discord', 'factorio', 'beammpmaster', 'nadeo', 'battlefield'])
      expect(bytesOf(left)).toBeLessThan(100);
    const code = chunks.map((chunk) => chunk.code).join('\n');
    expect(code).not.toMatch(/clientSecret|api\.epicgames|multiplayer\.factorio/);
  });

  it("don't exceed their size limit", () => {
    const bytes = chunks.reduce((sum, { code }) => sum + code.length, 0);
    expect(bytes).toBeLessThan(MAX_CHUNK_BYTES);
  });
});
