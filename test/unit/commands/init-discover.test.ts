import { describe, expect, it } from 'vitest';
import type { Asker } from '../../../src/commands/asker.ts';
import { chooseServers } from '../../../src/commands/init-discover.ts';
import type { KeyAccess } from '../../../src/commands/key-access.ts';
import type { ListedServer } from '../../../src/panel/responses.ts';

const server = (identifier: string, egg?: string) =>
  ({ identifier, uuid: `${identifier}-uuid`, name: identifier, egg }) as unknown as ListedServer;

const access = (more: Partial<KeyAccess>): KeyAccess => ({
  servers: [],
  problem: undefined,
  account: { username: 'ann', isAdmin: false, isKeyUnlimited: false },
  limitPerMinute: 240,
  ...more,
});
const ADMINISTRATOR = { username: 'ann', isAdmin: true, isKeyUnlimited: true };

/**
 * The choice of a user who gives this answer to all questions. Without an answer, no questions are
 * possible.
 */
async function choose(own: KeyAccess, all: KeyAccess, answer?: boolean) {
  const questions: string[] = [];
  const asker: Pick<Asker, 'confirms' | 'select' | 'choose'> = {
    confirms: (question) => {
      questions.push(question);
      return Promise.resolve(answer === true);
    },
    select: () => Promise.resolve(answer === true ? 'now' : 'later'),
    choose: () => Promise.reject(new Error('not asked')),
  };
  const chosen = await chooseServers(own, {
    asker: answer === undefined ? undefined : asker,
    accessToAll: () => Promise.resolve(all),
    isRunning: ({ identifier }) => Promise.resolve(identifier === 'aaaaaaaa'),
    note: () => undefined,
  });
  return { ...chosen, questions };
}

describe('an administrator without servers', () => {
  const own = access({ account: ADMINISTRATOR });
  const all = access({ account: ADMINISTRATOR, servers: [server('aaaaaaaa'), server('bbbbbbbb')] });

  it.each<[string, boolean | undefined, readonly string[], number]>([
    ['says yes', true, ['type: admin-all'], 2],
    ['says no', false, [], 0],
    ['can not be asked', undefined, ['type: admin-all'], 2],
  ])('who %s gets the settings for that', async (_what, answer, first, count) => {
    const { discover, access: chosen, questions } = await choose(own, all, answer);
    expect(discover.slice(0, 1)).toEqual(first);
    expect(chosen.servers).toHaveLength(count);
    if (answer !== undefined) expect(questions[0]).toContain('Monitor all 2 servers of the panel?');
  });

  it.each([
    ['the panel has none either', access({ account: ADMINISTRATOR })],
    ['they can not be listed', access({ problem: { cause: 'key_refused', detail: 'Forbidden' } })],
  ])('is not asked if %s', async (_what, none) => {
    const { discover, questions } = await choose(own, none, true);
    expect([discover, questions]).toEqual([[], []]);
  });

  it('is not asked with servers of the account', async () => {
    const { questions } = await choose({ ...own, servers: [server('aaaaaaaa')] }, all, false);
    expect(questions).toEqual([]);
  });
});

describe('players', () => {
  const own = access({ servers: [server('aaaaaaaa', 'Vanilla Minecraft'), server('bbbbbbbb', 'Who knows')] });

  it.each<[boolean | undefined, boolean]>([
    [true, true],
    [false, false],
    [undefined, false],
  ])('are counted only with consent: %s', async (answer, isCounted) => {
    const { discover, questions } = await choose(own, own, answer);
    expect(discover.includes('query: auto')).toBe(isCounted);
    if (answer !== undefined) expect(questions).toEqual([expect.stringContaining('1 of 2 servers')]);
  });

  it('are not asked about if no egg is known', async () => {
    const { questions } = await choose(access({ servers: [server('bbbbbbbb')] }), own, true);
    expect(questions).toEqual([]);
  });
});

it('servers that should always run follow as a rule', async () => {
  const own = access({ servers: [server('aaaaaaaa'), server('bbbbbbbb')] });
  const { discover } = await choose(own, own, true);
  expect(discover[0]).toBe('expect:');
  expect(discover.join('\n')).toContain('"aaaaaaaa"');
  expect(discover.join('\n')).not.toContain('"bbbbbbbb"');
});
