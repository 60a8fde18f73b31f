import type { Socket } from 'node:net';
import fc from 'fast-check';
import { expect } from 'vitest';
import { QUERY_FAILURES } from '../../../src/query/query-model.ts';
import { cpuMs } from '../../support/cpu-time.ts';
import { describeFuzz } from '../../support/fuzz.ts';
import { Answerer, type Incoming, LOOPBACK } from '../../support/game-answers.ts';
import { FAMILIES, FAMILIES_WITHOUT_LIMIT, type Family, TEEWORLDS } from '../../support/game-families.ts';
import { queryHere } from '../../support/query-here.ts';
import { TestTime } from '../../support/test-time.ts';

/** So fast that the deadline of 5 s passes in 20 ms, because many responses are invalid. */
const clock = new TestTime(250).clock();

/**
 * The maximum processor time of a query, in milliseconds. Generous, but far below that of unlimited
 * decoding.
 */
const MAX_CPU_MS = 5_000;

const MAX_GROWTH_BYTES = 64 * 1024 * 1024;

/**
 * The limit of repeated bytes. Otherwise, repetitions of repetitions would use as much memory as
 * the query may use.
 */
const MAX_REPEATED_BYTES = 4 * 1024 * 1024;

const families: Readonly<Record<string, Family>> = {
  ...Object.fromEntries([...FAMILIES, ...FAMILIES_WITHOUT_LIMIT].map((family) => [family.type, family])),
  ...Object.fromEntries(
    Object.entries(TEEWORLDS).map(([version, udp]) => [`Teeworlds ${version}`, { type: 'teeworlds', udp }]),
  ),
};

/** A change to a valid response. Positions are fractions of its length, and bytes are in Base64. */
interface Change {
  readonly kind: 'cut' | 'insert' | 'overwrite' | 'replace' | 'repeat';
  readonly at: number;
  readonly bytes: string;
  readonly times: number;
}

interface Input {
  readonly family: string;
  readonly changes: readonly Change[];
}

const change: fc.Arbitrary<Change> = fc.record({
  kind: fc.constantFrom('cut', 'insert', 'overwrite', 'replace', 'repeat'),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  bytes: fc
    .oneof(
      fc.uint8Array({ minLength: 1, maxLength: 64 }),
      // Extreme lengths and counts, and separators of fields.
      fc.constantFrom(
        '\0',
        '\xff\xff\xff\xff',
        '\xff\xff\xff\x7f',
        '\xfe\xff\xff\xff',
        ...String.raw`\ " < ^`.split(' '),
        '\n',
        '-1',
        '99999999999',
      ),
    )
    .map((bytes) => Buffer.from(bytes as string, 'latin1').toString('base64')),
  times: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 40_000 })),
});

function changed(answer: Buffer, { kind, at, bytes, times }: Change): Buffer {
  const place = Math.floor(at * answer.length);
  const other = Buffer.from(bytes, 'base64');
  const filler = Buffer.alloc(Math.min(other.length * times, 60_000), other);
  if (kind === 'cut') return answer.subarray(0, place);
  if (kind === 'insert') return Buffer.concat([answer.subarray(0, place), filler, answer.subarray(place)]);
  if (kind === 'overwrite')
    return Buffer.concat([answer.subarray(0, place), other, answer.subarray(place + other.length)]);
  if (kind === 'replace') return filler;
  const length = Math.min(times, 20, Math.ceil(MAX_REPEATED_BYTES / Math.max(answer.length, 1)));
  return Buffer.concat(Array.from({ length }, () => answer));
}

function serve(family: Family, spoil: (answer: Buffer) => Buffer): Promise<Answerer> {
  if ('udp' in family) {
    return Answerer.udp((incoming: Incoming) =>
      family.udp({
        ...incoming,
        // Longer datagrams are impossible on the loopback interface.
        reply: (...datagrams) => incoming.reply(...datagrams.map((one) => spoil(one).subarray(0, 60_000))),
      }),
    );
  }
  return Answerer.tcp((connection: Socket) => {
    const write = connection.write.bind(connection);
    connection.write = (bytes: string | Uint8Array) => write(spoil(Buffer.from(bytes)));
    family.tcp(connection);
  });
}

describeFuzz<Input>({
  folder: 'query',
  holds: 'any response of a game server results in a number of players, or in a failure with a cause',
  runs: 150,
  input: fc.record({
    family: fc.constantFrom(...Object.keys(families)),
    changes: fc.array(change, { minLength: 1, maxLength: 4 }),
  }),
  expectHeld: async ({ family: name, changes }) => {
    const family = families[name];
    if (family === undefined) throw new Error(`there is no family ${name}`);
    const memory = process.memoryUsage().rss;
    const before = cpuMs();
    await using server = await serve(family, (answer) => changes.reduce(changed, answer));
    const target = { type: family.type, ip: LOOPBACK, port: server.port, isQueryPort: true };
    const { query_problem: problem, players, players_max: most = 0 } = await queryHere(target, clock);
    expect(cpuMs() - before).toBeLessThan(MAX_CPU_MS);
    expect(process.memoryUsage().rss - memory).toBeLessThan(MAX_GROWTH_BYTES);
    if (problem === undefined) {
      for (const count of [players ?? -1, most])
        expect(Number.isInteger(count) && count >= 0 && count < 2 ** 31).toBe(true);
    } else {
      expect(QUERY_FAILURES).toContain(problem.cause);
      expect(problem.detail).toMatch(/^127\.0\.0\.1, [\w ,'():;.=-]+$/);
    }
  },
});
