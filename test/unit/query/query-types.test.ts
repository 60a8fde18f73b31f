import { readFileSync } from 'node:fs';
import { games } from 'gamedig';
import { describe, expect, it } from 'vitest';
import { PROTOCOLS } from '../../../src/query/protocols.ts';
import { LIBRARY_PROTOCOLS, QUERY_TYPES } from '../../../src/query/query-types.ts';
import { expectSection } from '../../support/generated.ts';
import { type QueryTarget, questionFor } from '../../support/query-here.ts';
import {
  isOffered,
  LEFT_OUT,
  OFFERED,
  renderLeftOut,
  renderQueryTypes,
} from '../../support/query-types-reference.ts';

const PACKAGE = new URL('../../../node_modules/gamedig/', import.meta.url);

const sourceOf = (file: string) => readFileSync(new URL(file, PACKAGE), 'utf8');

/**
 * The source code of a protocol and of those that it extends, without the base class, whose network
 * access is replaced.
 */
function sourcesOf(protocol: string): readonly string[] {
  const source = sourceOf(`protocols/${protocol}.js`);
  const [, parent] = /^import (?:\w+) from '\.\/(\w+)\.js'/m.exec(source) ?? [];
  return parent === undefined || parent === 'core' ? [source] : [source, ...sourcesOf(parent)];
}

const IP = '192.0.2.1';

const waysOf = (target: QueryTarget) => questionFor(target).ways;

describe('the types that can be queried', () => {
  it("are the library's types with an offered protocol, and the exporter's own", () => {
    expect([...QUERY_TYPES.keys()].sort()).toEqual(OFFERED.map(([type]) => type));
  });

  it("use the library's protocols and ports", () => {
    for (const [type, { options }] of OFFERED.filter(([own]) => own in games)) {
      const { protocol, port, port_query, port_query_offset = [] } = options;
      for (const usual of [port ?? 7_000, 30_000]) {
        const derived = [port_query_offset].flat().map((offset) => usual + offset);
        const fixed = usual === port && port_query !== undefined ? [port_query] : [];
        const ports = [...new Set([usual, ...derived, ...fixed])].filter((at) => at >= 1 && at <= 65_535);
        const ways = waysOf({ type, ip: IP, port: usual, isQueryPort: false });
        expect([type, ...new Set(ways.map((way) => way.port))]).toEqual([type, ...ports]);
        expect(ways.some((way) => way.protocol.startsWith(protocol))).toBe(true);
        expect(ways.every(({ protocol }) => PROTOCOLS.has(protocol))).toBe(true);
      }
    }
  });

  it('are in the docs, with those that are excluded', () => {
    expectSection('docs/query-types.md', 'query-types', renderQueryTypes());
    expectSection('docs/query-types.md', 'left-out', renderLeftOut());
  });

  it.each(['asa', 'discord', 'minetest', 'factorio', 'squad', 'toString', '__proto__', ''])(
    'do not include %j',
    (type) => {
      expect(QUERY_TYPES.has(type)).toBe(false);
      expect(waysOf({ type, ip: IP, port: 1, isQueryPort: false })).toEqual([]);
    },
  );
});

describe("the library's protocols", () => {
  it('are each offered, or excluded for a reason', () => {
    const used = new Set(Object.values(games).map(({ options }) => options.protocol));
    for (const protocol of used)
      expect([protocol, isOffered(protocol), LEFT_OUT.has(protocol)]).toEqual([
        protocol,
        !LEFT_OUT.has(protocol),
        LEFT_OUT.has(protocol),
      ]);
  });

  it.each(LIBRARY_PROTOCOLS)('use the network only through the base class: %s', (protocol) => {
    for (const source of sourcesOf(protocol)) {
      const imported = [...source.matchAll(/^import .* from '(.*)'/gm)].map(([, from]) => from);
      const harmless = [
        /^\.\/\w+\.js$/,
        /^node:buffer$/,
        /^seek-bzip$/,
        /^varint$/,
        /^\.\.\/lib\/Results\.js$/,
      ];
      for (const from of imported) expect(harmless.some((pattern) => pattern.test(from ?? ''))).toBe(true);
      expect(source).not.toMatch(/\b(?:fetch|require|import)\(|\bprocess\b|\bconsole\b/);
    }
  });

  it('send HTTP requests only to the given host', () => {
    const urls = LIBRARY_PROTOCOLS.flatMap(sourcesOf).flatMap(
      (source) => source.match(/(?<=url\w* ?[:=] ?)['`]https?:.{0,40}/g) ?? [],
    );
    expect(urls).not.toEqual([]);
    for (const url of urls)
      expect(url).toMatch(
        /^(?:`https?:\/\/\$\{this\.options\.|'http:\/\/' \+ this\.options\.)(?:host|address)/,
      );
  });
});
