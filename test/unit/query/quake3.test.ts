import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { queryQuake3 } from '../../../src/query/quake3.ts';
import type { Way } from '../../../src/query/query-model.ts';
import { scriptedNetwork } from '../../support/scripted-network.ts';

const WAY: Way = { protocol: 'quake3', ip: '192.0.2.1', hostname: '192.0.2.1', port: 1, queryPort: 1 };

/** The counts of a game that responds to its two requests with these texts, and the requests. */
async function query(responses: Readonly<Record<string, string | undefined>>) {
  const asked: string[] = [];
  const network = scriptedNetwork(({ datagram, reply }) => {
    const request = /^\xff{4}(.*)\n$/.exec(datagram.toString('latin1'))?.[1] ?? 'malformed';
    asked.push(request);
    const response = responses[request];
    if (response !== undefined) reply(Buffer.from('noise'), Buffer.from(response, 'latin1'));
  });
  const { players, bots, maxPlayers } = await queryQuake3(network, WAY);
  return { counts: [players, bots, maxPlayers].map((one) => (one === undefined ? one : Number(one))), asked };
}

const info = (text: string) => `\xff\xff\xff\xffinfoResponse\n${text}`;
const status = (text: string, ...players: readonly string[]) =>
  `\xff\xff\xff\xffstatusResponse\n${text}\n${players.map((line) => `${line}\n`).join('')}`;
const PLAYERS = ['10 0 "a bot"', '3 48 "ann"', '-5 999 "5 0 ben"', ''];

describe('the counts of a short response', () => {
  it.each<[string, string, readonly (number | undefined)[]]>([
    ['with bots', '\\sv_maxclients\\64\\clients\\30\\bots\\4', [30, 4, 64]],
    ['with people', '\\sv_maxclients\\16\\clients\\3\\g_humanplayers\\2', [3, 1, 16]],
    ['with humans, as other games name them', '\\sv_maxclients\\16\\clients\\3\\humans\\3', [3, 0, 16]],
    ['with people and bots', '\\clients\\5\\bots\\9\\g_humanplayers\\4', [5, 1, undefined]],
    ['with both limits', '\\sv_maxclients\\64\\maxclients\\32\\clients\\1\\bots\\0', [1, 0, 32]],
  ])('%s are enough', async (_what, text, counts) => {
    expect(await query({ getinfo: info(text) })).toEqual({ counts, asked: ['getinfo'] });
  });

  it('are those of its keys, whatever other values it has', async () => {
    const value = fc.string({ unit: fc.constantFrom('a', ' ', 'c', 'lients', 'bots', '^1') });
    await fc.assert(
      fc.asyncProperty(value, value, async (before, after) => {
        const text = `\\hostname\\${before}\\clients\\7\\bots\\2\\mod\\${after}`;
        expect((await query({ getinfo: info(text) })).counts).toEqual([7, 2, undefined]);
      }),
    );
  });
});

describe('the long response is asked for', () => {
  it.each([
    ['without bots in the short one', info('\\sv_maxclients\\16\\clients\\3')],
    ['without a short one', undefined],
  ])('%s, and its players without a ping are bots', async (_what, getinfo) => {
    expect(await query({ getinfo, getstatus: status('\\sv_maxclients\\16', ...PLAYERS) })).toEqual({
      counts: [3, 1, 16],
      asked: ['getinfo', 'getstatus'],
    });
  });

  it('and may be replaced by the short one', async () => {
    const getinfo = info('\\sv_maxclients\\64\\clients\\60');
    expect((await query({ getinfo, getstatus: getinfo })).counts).toEqual([60, undefined, 64]);
  });
});

it('nothing else is read', async () => {
  await expect(query({ getstatus: '\xff\xff\xff\xffprint\n\\clients\\3' })).rejects.toThrow('silent');
});
