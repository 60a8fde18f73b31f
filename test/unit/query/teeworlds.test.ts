import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { QueryError, type Way } from '../../../src/query/query-model.ts';
import { queryTeeworlds6, queryTeeworlds7 } from '../../../src/query/teeworlds.ts';
import { type Incoming, text, uint8 } from '../../support/game-answers.ts';
import { PLAYERS, SEATS, TEEWORLDS } from '../../support/game-families.ts';
import { scriptedNetwork } from '../../support/scripted-network.ts';

const WAY: Way = { protocol: 'teeworlds', ip: '192.0.2.1', hostname: '192.0.2.1', port: 1, queryPort: 1 };

type Game = (incoming: Pick<Incoming, 'datagram' | 'reply'>) => void;

const ask6 = (game: Game) => queryTeeworlds6(scriptedNetwork(game), WAY);
const ask7 = (game: Game) => queryTeeworlds7(scriptedNetwork(game), WAY);
const game = (version: string) => TEEWORLDS[version] as unknown as Game;

describe('version 0.6', () => {
  const response = (kind: string, token: number, ...texts: readonly (string | number)[]) =>
    Buffer.concat([
      Buffer.alloc(10, 0xff),
      Buffer.from(kind),
      ...[token, ...texts].map((one) => text(String(one))),
    ]);
  const USUAL = ['0.6.5', 'a name', 'dm1', 'DM', 0, 13, 16, 15, 16];

  it('is asked for its clients, spectators included', async () => {
    expect(await ask6(game('0.6'))).toEqual({ players: String(PLAYERS), maxPlayers: String(SEATS) });
  });

  it('is asked in both forms, whose responses name the counts at different places', async () => {
    const asked: string[] = [];
    const extended: Game = ({ datagram, reply }) => {
      asked.push(datagram.subarray(0, 6).toString('latin1'));
      const [token = 0] = datagram.subarray(14);
      reply(response('iext', token, '0.6.4', 'a name', 'dm1', -1, 1, 'DDNet', 0, 38, 64, 40, 64));
    };
    expect(await ask6(extended)).toEqual({ players: '40', maxPlayers: '64' });
    expect(asked).toEqual(['xe\0\0\0\0', '\xff'.repeat(6)]);
  });

  it('is not read from a response to somebody else, or from other datagrams', async () => {
    const foreign: Game = ({ datagram, reply }) => {
      const [token = 0] = datagram.subarray(14);
      reply(Buffer.alloc(10, 0xff), response('inf3', token ^ 1, ...USUAL));
    };
    await expect(ask6(foreign)).rejects.toThrow(QueryError);
    await expect(ask6(({ reply }) => reply(Buffer.from('nonsense'), Buffer.alloc(0)))).rejects.toThrow(
      'silent',
    );
  });
});

describe('version 0.7', () => {
  const TOKEN = Buffer.from([9, 8, 7, 6]);
  const INFO = Buffer.concat([Buffer.alloc(4, 0xff), Buffer.from('inf3'), uint8(0)]);
  const TEXTS = ['0.7.5', 'a name', '', 'dm1', 'DM'].map(text);

  /** A server with these numbers, which sends `noise` before each response. */
  const serving =
    (numbers: Buffer, noise: readonly Buffer[] = []): Game =>
    ({ datagram, reply }) => {
      if (datagram[0] === 0x04)
        reply(...noise, Buffer.concat([uint8(4, 0, 0), datagram.subarray(8, 12), uint8(5), TOKEN]));
      else
        reply(
          ...noise,
          Buffer.concat([uint8(0x21), datagram.subarray(5, 9), TOKEN, INFO, ...TEXTS, numbers]),
        );
    };

  /** A number of up to 31 bits in the protocol's encoding. */
  function number(value: number): Buffer {
    const bytes: number[] = [];
    let rest = value < 0 ? -value - 1 : value;
    bytes.push((rest & 0x3f) | (value < 0 ? 0x40 : 0));
    rest >>>= 6;
    while (rest > 0) {
      bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | 0x80;
      bytes.push(rest & 0x7f);
      rest >>>= 7;
    }
    return Buffer.from(bytes);
  }

  it('fetches a token, which every request contains', async () => {
    const asked: Buffer[] = [];
    const counts = await ask7((incoming) => {
      asked.push(incoming.datagram);
      game('0.7')(incoming);
    });
    expect(counts).toEqual({ players: PLAYERS, maxPlayers: SEATS });
    const [token, info] = asked;
    expect(token).toHaveLength(520);
    expect(info?.subarray(1, 5)).toEqual(TOKEN);
    expect(info?.subarray(5, 9)).toEqual(token?.subarray(8, 12));
  });

  it('may have numbers of any length', async () => {
    const counts = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
    await fc.assert(
      fc.asyncProperty(fc.tuple(counts, counts, counts), async ([other, players, maxPlayers]) => {
        const numbers = [0, other, other, other, players, maxPlayers, 1].map(number);
        expect(await ask7(serving(Buffer.concat(numbers)))).toEqual({ players, maxPlayers });
      }),
    );
  });

  it('has unknown counts if its response ends early', async () => {
    expect(await ask7(serving(Buffer.alloc(0)))).toEqual({ players: undefined, maxPlayers: undefined });
  });

  const foreign = [
    Buffer.from('nonsense'),
    Buffer.concat([uint8(4, 0, 0), Buffer.alloc(4), uint8(5), TOKEN]),
    Buffer.concat([uint8(0x21), Buffer.alloc(4), TOKEN, INFO, ...TEXTS, uint8(0, 1, 2, 16, 9, 9)]),
  ];

  it('is not read from responses to somebody else', async () => {
    const counts = Buffer.concat([0, 0, 0, 0, 3, 20].map(number));
    expect(await ask7(serving(counts, foreign))).toEqual({ players: 3, maxPlayers: 20 });
    await expect(ask7(({ reply }) => reply(...foreign))).rejects.toThrow('silent');
  });

  it('is not read from a token that is too short', async () => {
    let asked = 0;
    const short: Game = ({ datagram, reply }) => {
      asked += 1;
      reply(Buffer.concat([uint8(4, 0, 0), datagram.subarray(8, 12), uint8(5), TOKEN]).subarray(0, 11));
    };
    await expect(ask7(short)).rejects.toThrow('silent');
    expect(asked).toBe(1);
  });
});
