import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KeptServer, KeptStop } from '../../../src/domain/kept-server.ts';
import { SERVER_STATES } from '../../../src/domain/power-states.ts';
import { STOP_REASONS } from '../../../src/domain/stops.ts';
import { MAX_LINE, readStateText, stateText } from '../../../src/storage/state-text.ts';

const age = fc.nat({ max: 10_000_000_000 });
const exitCode = fc.nat({ max: 4_294_967_295 });
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
const flag = maybe(fc.constant(true as const));

const stop: fc.Arbitrary<KeptStop> = fc.record({
  ago: age,
  reason: fc.constantFrom(...STOP_REASONS),
  exitCode: maybe(exitCode),
  whileDown: flag,
});

/** A server with at most as many stops and steps as fit into its line. */
const server: fc.Arbitrary<KeptServer> = fc.record({
  panel: fc.constantFrom('main', 'other "panel"\n'),
  id: fc.uuid(),
  seenAt: fc.nat({ max: 4_000_000_000_000 }),
  power: maybe(
    fc.record({
      state: fc.constantFrom(...SERVER_STATES),
      sinceAgo: age,
      startedAgo: maybe(age),
      offSeenFromAgo: maybe(age),
      exitedAgo: maybe(age),
      diskFullAgo: maybe(age),
      owesStart: flag,
      isExpected: maybe(fc.boolean()),
      isRestartAborted: flag,
      lastExitCode: maybe(exitCode),
      lastStop: maybe(stop),
    }),
  ),
  uptime: maybe(
    fc.record({
      uptimeMs: age,
      source: fc.constantFrom('socket' as const, 'poll' as const),
      receivedAgo: age,
      measuredFromAgo: age,
    }),
  ),
  unwantedStops: maybe(fc.array(stop, { minLength: 1, maxLength: 8 })),
  strip: maybe(fc.record({ ago: age, steps: fc.base64String({ maxLength: 200 }) })),
});

const textOf = (servers: readonly KeptServer[]) => [...stateText(servers)].join('');

/** The lines with a correct checksum, whatever they contain. */
function sealed(...lines: readonly string[]): string {
  const text = lines.map((line) => `${line}\n`).join('');
  const sha256 = createHash('sha256').update(text).digest('hex');
  return `${text}${JSON.stringify({ servers: 1, sha256 })}\n`;
}

const HEADER = '{"format":"gameserver-exporter state","version":1}';
const SERVER = '{"id":"1a7ce997","seen":1}';

describe('a state file', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(fc.array(server, { maxLength: 200 }), (servers) => {
        expect(readStateText(textOf(servers))).toEqual({ servers });
      }),
      { numRuns: 30 },
    );
  });

  it('of which anything was changed or lost is damaged', () => {
    const text = textOf(fc.sample(server, { numRuns: 3, seed: 1 }));
    fc.assert(
      fc.property(
        fc.nat({ max: text.length - 1 }),
        fc.string({ minLength: 1, maxLength: 1 }),
        (at, other) => {
          expect(readStateText(text.slice(0, at))).toEqual({ problem: 'damaged' });
          const changed = text.slice(0, at) + other + text.slice(at + 1);
          const expected = changed === text ? { servers: expect.anything() } : { problem: expect.anything() };
          expect(readStateText(changed)).toEqual(expected);
        },
      ),
    );
  });

  it.each([
    ['nothing', ''],
    ['garbage', '\u0000\u0001garbage'],
    ['null', 'null\n'],
    ['another version of nothing', '{"version":2}\n'],
    ['a server without a panel', sealed(HEADER, SERVER)],
    ['a list', sealed(HEADER, '{"panel":"main"}', '[]')],
    ['an id that is none', sealed(HEADER, '{"panel":"main"}', '{"id":7,"seen":1}')],
    ['a time that is none', sealed(HEADER, '{"panel":"main"}', '{"id":"1a7ce997","seen":"now"}')],
    ['an unknown state', sealed(HEADER, '{"panel":"main"}', '{"id":"1a7ce997","seen":1,"power":[9,0,0]}')],
    ['an unknown reason', sealed(HEADER, '{"panel":"main"}', '{"id":"1a7ce997","seen":1,"stops":[[1,9]]}')],
    ['a strip that is none', sealed(HEADER, '{"panel":"main"}', '{"id":"1a7ce997","seen":1,"strip":[1]}')],
  ])('with %s in it is damaged', (_, text) => {
    expect(readStateText(text)).toEqual({ problem: 'damaged' });
  });

  it('with one server can be read', () => {
    const text = sealed(HEADER, '{"panel":"main"}', SERVER);
    expect(readStateText(text)).toMatchObject({ servers: [{ panel: 'main', id: '1a7ce997', seenAt: 1 }] });
  });

  it('of a later version is recognized, whatever else is in it', () => {
    const later = '{"format":"gameserver-exporter state","version":2}\nanything';
    expect(readStateText(later)).toEqual({ problem: 'of a later version' });
  });

  it('takes at most 1 kB for a server, and leaves out its oldest stops for that', () => {
    const worst: KeptServer = {
      panel: 'main',
      id: '1a7ce997-259b-452e-8b4e-cecc464142ca',
      seenAt: 1_764_353_313_000,
      power: {
        state: 'offline',
        sinceAgo: 31_536_000_000,
        startedAgo: 31_536_000_000,
        offSeenFromAgo: 31_536_000_000,
        exitedAgo: 31_536_000_000,
        diskFullAgo: 31_536_000_000,
        owesStart: true,
        isExpected: false,
        isRestartAborted: true,
        lastExitCode: 4_294_967_295,
        lastStop: { ago: 31_536_000_000, reason: 'unknown', exitCode: 4_294_967_295, whileDown: true },
      },
      uptime: {
        uptimeMs: 31_536_000_000,
        source: 'poll',
        receivedAgo: 31_536_000_000,
        measuredFromAgo: 31_536_000_000,
      },
      unwantedStops: Array.from({ length: 20 }, (_, index) => ({
        ago: 3_600_000 - index,
        reason: 'unknown',
        exitCode: 4_294_967_295,
        whileDown: true,
      })),
      strip: { ago: 120_000, steps: 'A'.repeat(400) },
    };
    const text = textOf([worst]);
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(MAX_LINE);
    const read = readStateText(text);
    const [found] = 'servers' in read ? read.servers : [];
    const { unwantedStops = [] } = found ?? {};
    // Enough for a crash loop.
    expect(unwantedStops.length).toBeGreaterThanOrEqual(5);
    expect(unwantedStops).toEqual(worst.unwantedStops?.slice(-unwantedStops.length));
    expect({ ...found, unwantedStops: [] }).toEqual({ ...worst, unwantedStops: [] });
  });
});
