import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Asker } from '../../../src/commands/asker.ts';
import { alwaysRunning, expectLines } from '../../../src/commands/init-expect.ts';
import { parseConfig } from '../../../src/config/parse.ts';

const server = (identifier: string, name: string) => ({
  identifier,
  name,
  uuid: `${identifier}-259b-452e-8b4e-cecc464142ca`,
});

const SERVERS = [server('1a7ce997', 'survival'), server('12345678', 'lobby'), server('1e234567', 'test')];

/** A person with these answers, and the questions and notes that were displayed. */
function person(selected: string, chosen: readonly string[] = []) {
  const asked: (readonly string[])[] = [];
  const notes: string[] = [];
  const asker: Asker = {
    text: () => Promise.reject(new Error('not asked')),
    hidden: () => Promise.reject(new Error('not asked')),
    confirms: () => Promise.reject(new Error('not asked')),
    select: (_, options) => {
      asked.push(options.map(([value]) => value));
      return Promise.resolve(selected);
    },
    choose: (_, options) => {
      asked.push(options.map(([, label]) => label));
      return Promise.resolve(chosen);
    },
  };
  const sources = {
    asker,
    mostAsked: 100,
    isRunning: ({ name }: { readonly name: string }) => {
      if (name === 'test') return Promise.reject(new Error('no data'));
      return Promise.resolve(name === 'survival');
    },
    note: (text: string) => void notes.push(text),
  };
  return { sources, asked, notes };
}

const names = (servers: readonly { readonly name: string }[]) => servers.map(({ name }) => name);

describe('the servers that should always run', () => {
  it('are those that run now, and a note says how many have no known state', async () => {
    const { sources, notes } = person('now');
    expect(names(await alwaysRunning(SERVERS, sources))).toEqual(['survival']);
    expect(notes).toEqual(['1 server of 3 should always run; the state of 1 server could not be read.\n']);
  });

  it('are those that are chosen by name', async () => {
    const { sources, asked } = person('choose', ['12345678']);
    expect(names(await alwaysRunning(SERVERS, sources))).toEqual(['lobby']);
    expect(asked).toEqual([
      ['now', 'choose', 'later'],
      ['survival', 'lobby', 'test'],
    ]);
  });

  it('are none if that is decided later, if there are no servers, or if nobody can be asked', async () => {
    const { sources, asked } = person('later');
    expect(await alwaysRunning(SERVERS, sources)).toEqual([]);
    expect(await alwaysRunning([], sources)).toEqual([]);
    expect(await alwaysRunning(SERVERS, { ...sources, asker: undefined })).toEqual([]);
    expect(asked).toHaveLength(1);
  });

  it.each([
    [100, ['now', 'choose', 'later']],
    [101, ['choose', 'later']],
    [201, ['later']],
  ])('can, of %i servers with a limit of 100 calls, be found by %j', async (count, options) => {
    const { sources, asked } = person('later');
    await alwaysRunning(
      Array.from({ length: count }, (_, index) => server(`${index}`, `server-${index}`)),
      sources,
    );
    expect(asked).toEqual([options]);
  });
});

describe('the rule', () => {
  it('names the servers by their ids, whatever they look like and whatever the names contain', async () => {
    const hostile = server('00000000', '${NOPE}\n- evil: # "x"');
    const lines = expectLines([...SERVERS, hostile]);
    const ids = ['1a7ce997', '12345678', '1e234567', '00000000'];
    expect(parse(lines.join('\n'))).toEqual({ expect: [{ match: { id: ids } }] });
    const text = [
      'panels:',
      '  - name: main',
      '    url: https://panel.example.com',
      '    api_key: ptlc_a_key_of_this_test_that_is_long_enough',
      '    discover:',
      ...lines.map((line) => `      ${line}`),
    ];
    const { config, issues } = await parseConfig(text.join('\n'), 'config.yaml', {});
    expect(issues).toEqual([]);
    expect(config?.panels[0]?.listing?.discover?.expect).toEqual([{ match: { id: ids }, state: 'running' }]);
  });

  it('is absent without servers', () => expect(expectLines([])).toEqual([]));
});
