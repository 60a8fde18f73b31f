import { readFileSync } from 'node:fs';
import { games } from 'gamedig';
import { describe, expect, it, vi } from 'vitest';
import { PROTOCOLS } from '../../../src/query/protocols.ts';
import { LIBRARY_PROTOCOLS, TYPES } from '../../../src/query/types.ts';
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

/** The source of a protocol and of those it extends, except the base class, whose network access is replaced. */
function sourcesOf(protocol: string): readonly string[] {
  const source = sourceOf(`protocols/${protocol}.js`);
  const [, parent] = /^import (?:\w+) from '\.\/(\w+)\.js'/m.exec(source) ?? [];
  return parent === undefined || parent === 'core' ? [source] : [source, ...sourcesOf(parent)];
}

const IP = '192.0.2.1';

const waysOf = (target: QueryTarget) => questionFor(target).ways;

describe('the types that can be queried', () => {
  it("are the library's types with an offered protocol, and the exporter's own", () => {
    expect([...TYPES.keys()].sort()).toEqual(OFFERED.map(([type]) => type));
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
      expect(TYPES.has(type)).toBe(false);
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

const waysAs = (type: string, port: number, isQueryPort = false) =>
  waysOf({ type, ip: IP, port, isQueryPort }).map((way) => `${way.protocol} ${way.port}`);

describe('the ways to query a server', () => {
  it("add the port that the game's rule derives from the players' port", () => {
    expect(waysAs('valheim', 2466)).toEqual(['valve 2466', 'valve 2467']);
    expect(waysAs('vrising', 9876)).toEqual(['valve 9876', 'valve 9877', 'valve 9891']);
  });

  it("add the default query port if the players' port is the default", () => {
    expect(waysAs('ase', 7777)).toEqual(['valve 7777', 'valve 27015']);
    expect(waysAs('ase', 7779)).toEqual(['valve 7779']);
  });

  it("use only the given port if it is known to respond to queries, or is the players' port", () => {
    expect(waysAs('rust', 28_015)).toEqual(['valve 28015']);
    expect(waysAs('valheim', 2457, true)).toEqual(['valve 2457']);
    expect(waysAs('ase', 7777, true)).toEqual(['valve 7777']);
  });

  it.each<[string, Partial<QueryTarget>, number[]]>([
    [
      "the named one first, then the players' port and the derived one",
      { namedPort: 27_020 },
      [27_020, 2456, 2457],
    ],
    ['the other ones last', { otherPorts: [3000, 3001] }, [2456, 2457, 3000, 3001]],
    ['each one once', { namedPort: 2457, otherPorts: [2457, 3000] }, [2457, 2456, 3000]],
    ['at most four', { namedPort: 2999, otherPorts: [2999, 3000, 3001] }, [2999, 2456, 2457, 3000]],
    [
      "no other server's",
      { namedPort: 3000, otherPorts: [3000, 3001], isTaken: (port) => port > 2456 },
      [2456],
    ],
    [
      'as many as remain without those of other servers',
      { otherPorts: [3000, 3001, 3002], isTaken: (port) => port === 3000 },
      [2456, 2457, 3001, 3002],
    ],
    [
      'only the configured query port',
      { isQueryPort: true, namedPort: 3000, otherPorts: [3000, 3001] },
      [2456],
    ],
  ])("use the server's ports: %s", (_, more, ports) => {
    const ways = waysOf({ type: 'valheim', ip: IP, port: 2456, isQueryPort: false, ...more });
    expect(ways.map(({ port }) => port)).toEqual(ports);
  });

  it.each([
    ['asks about no port after the fourth free one', 0, 4],
    ['considers at most 16 ports, whatever others have', 65_535, 16],
  ])('%s', (_, lastTaken, asked) => {
    const isTaken = vi.fn<(port: number) => boolean>((port) => port <= lastTaken);
    const otherPorts = Array.from({ length: 1_000 }, (_, index) => 10_000 + index);
    waysOf({ type: 'rust', ip: IP, port: 2456, isQueryPort: false, otherPorts, isTaken });
    expect(isTaken).toHaveBeenCalledTimes(asked);
  });

  it('never use an invalid port', () => {
    expect(waysAs('atlas', 20_000)).toEqual(['valve 20000']);
    expect(waysAs('unrealtournament3', 1000)).toEqual(['ut3 1000']);
  });

  it('begin with the most likely protocol', () => {
    expect(waysAs('teeworlds', 8303)).toEqual(['teeworlds7 8303', 'teeworlds6 8303']);
    expect(waysAs('minecraft', 25_565)).toEqual([
      'minecraftvanilla 25565',
      'minecraftlegacy 25565',
      'minecraftbedrock 25565',
      'gamespy3 25565',
    ]);
    expect(waysAs('mbe', 19_132)).toEqual(['minecraftbedrock 19132', 'gamespy3 19132']);
  });
});
