import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KeptServer } from '../../../src/domain/kept-server.ts';
import { StateKeeper } from '../../../src/storage/state-keeper.ts';
import { stateText } from '../../../src/storage/state-text.ts';
import { eventually } from '../../support/eventually.ts';
import { collectingLogger } from '../../support/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { target } from '../../support/targets.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const ID = '1a7ce997-259b-452e-8b4e-cecc464142ca';

let folder: string;
let clock: ManualClock;
let log: ReturnType<typeof collectingLogger>;
const keepers: StateKeeper[] = [];

beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'state-')), 'data');
  clock = new ManualClock();
  log = collectingLogger();
});

afterEach(async () => {
  for (const keeper of keepers.splice(0)) await keeper.stop();
  await rm(join(folder, '..'), { recursive: true });
});

async function open(changes: Partial<Parameters<typeof StateKeeper.open>[0]> = {}): Promise<StateKeeper> {
  const keeper = await StateKeeper.open({ folder, shard: 0, clock, log, ...changes });
  keepers.push(keeper);
  return keeper;
}

const server = (changes: Partial<KeptServer> = {}): KeptServer => ({
  panel: 'main',
  id: ID,
  seenAt: Math.round(clock.toUnixMs(clock.now())),
  power: { state: 'running', sinceAgo: 5_000, isExpected: true },
  ...changes,
});

const source = (...servers: readonly KeptServer[]) => ({
  keep: () => servers,
  panels: () => [{ name: 'main' }],
});

const warnings = () => log.lines.filter(({ level }) => level === 'warn').map(({ message }) => message);
const file = () => join(folder, 'state-0');
const put = async (text: string) => {
  await (await open()).stop();
  keepers.length = 0;
  log.lines.length = 0;
  await writeFile(file(), text);
};

describe('what is kept', () => {
  it('is there after a stop, for the same server, once', async () => {
    const first = await open();
    first.start(source(server()));
    await first.stop();
    expect(await readdir(folder)).toEqual(['state-0']);
    const next = await open();
    expect(next.take(target({ id: ID }))).toMatchObject({
      id: ID,
      power: { state: 'running', sinceAgo: 5_000 },
    });
    expect(next.take(target({ id: ID }))).toBeUndefined();
    expect(warnings()).toEqual([]);
    expect(log.lines.map(({ message }) => message)).toEqual([
      `continuing with the state of 1 server in ${file()}`,
    ]);
  });

  it.each([
    ['its short id', { id: ID.slice(0, 8) }, true],
    ['its UUID, in any case', { id: ID.toUpperCase() }, true],
    ['its short id, and its UUID from the server list', { id: ID.slice(0, 8), uuid: ID }, true],
    ['the same short id, but another UUID', { id: ID.slice(0, 8), uuid: `${ID.slice(0, 8)}-0000` }, false],
    ['another panel', { id: ID, panel: 'other' }, false],
  ])('is found by %s', async (_, ids, isFound) => {
    const first = await open();
    first.start(source(server()));
    await first.stop();
    expect((await open()).take(target(ids)) !== undefined).toBe(isFound);
  });

  it('is written every minute', async () => {
    const keeper = await open();
    let seenAt = 1;
    keeper.start({ ...source(), keep: () => [server({ seenAt })] });
    await clock.advance(MINUTE - 1);
    expect(await readdir(folder)).toEqual(['state-0.lock']);
    await clock.advance(1);
    await eventually(async () => expect(await readFile(file(), 'utf8')).toContain('"seen":1,'));
    seenAt = 2;
    await eventually(async () => {
      await clock.advance(MINUTE);
      expect(await readFile(file(), 'utf8')).toContain('"seen":2,');
    });
  });

  it('of a server that is not found again stays for a day, unless its panel is gone', async () => {
    const other = server({ id: '2b000000-0000-4000-8000-000000000000', panel: 'gone' });
    await put([...stateText([server(), other])].join(''));
    for (const hours of [0, 23]) {
      clock.unixOffsetMs += hours * 60 * MINUTE;
      const keeper = await open();
      keeper.start(source());
      await keeper.stop();
      expect(await readFile(file(), 'utf8')).toContain(ID);
      expect(await readFile(file(), 'utf8')).not.toContain('gone');
    }
    clock.unixOffsetMs += DAY;
    const keeper = await open();
    keeper.start(source());
    await keeper.stop();
    expect(await readFile(file(), 'utf8')).not.toContain(ID);
  });

  it('of each shard is in its own file', async () => {
    const keeper = await open();
    keeper.start(source(server()));
    const other = await open({ shard: 1 });
    other.start(source());
    await keeper.stop();
    await other.stop();
    expect(await readdir(folder)).toEqual(['state-0', 'state-1']);
    expect((await open({ shard: 1 })).take(target({ id: ID }))).toBeUndefined();
    expect(warnings()).toEqual([]);
  });

  it('is not written by an exporter that never started', async () => {
    await put([...stateText([server()])].join(''));
    await (await open()).stop();
    expect((await open()).take(target({ id: ID }))).toBeDefined();
  });
});

describe('a second exporter with the same path', () => {
  it('says so once, reads what is kept, and writes nothing until the first one ends', async () => {
    await put([...stateText([server()])].join(''));
    const first = await open();
    const second = await open();
    expect(warnings()).toEqual([
      `the servers' state can't be kept in ${folder}: another exporter uses it, so a restart loses it; give each exporter its own --storage.path, or turn this off with --storage.path= (empty)`,
    ]);
    expect(second.take(target({ id: ID }))).toBeDefined();
    second.start(source(server({ seenAt: 7 })));
    await clock.advance(MINUTE);
    await clock.advance(MINUTE);
    await first.stop();
    expect(await readFile(file(), 'utf8')).not.toContain('"seen":7,');
    await eventually(async () => {
      await clock.advance(MINUTE);
      expect(await readFile(file(), 'utf8')).toContain('"seen":7,');
    });
    expect(warnings()).toHaveLength(1);
    await eventually(() =>
      expect(log.lines.at(-1)).toMatchObject({
        level: 'info',
        message: `the servers' state is kept in ${folder} again`,
      }),
    );
  });
});

describe('a file that cannot be read', () => {
  const whole = () => [...stateText([server()])].join('');
  it.each([
    ['garbage', () => 'garbage', 'damaged'],
    ['an empty file', () => '', 'damaged'],
    ['half a file', () => whole().slice(0, whole().length / 2), 'damaged'],
    ['a file of a later version', () => whole().replace('"version":1', '"version":2'), 'later'],
  ])('is kept under another name, and replaced by the next state: %s', async (_, text, suffix) => {
    await put(text());
    for (const round of [1, 2]) {
      const keeper = await open();
      expect(keeper.take(target({ id: ID }))).toBeUndefined();
      expect(warnings()).toHaveLength(1);
      expect(warnings()[0]).toContain(`, renamed to ${file()}.${suffix}; `);
      expect(await readFile(`${file()}.${suffix}`, 'utf8')).toBe(text());
      keeper.start(source(server()));
      await keeper.stop();
      const next = await open();
      expect(next.take(target({ id: ID }))).toBeDefined();
      await next.stop();
      if (round === 1) await put(text());
    }
    expect((await readdir(folder)).toSorted()).toEqual(['state-0', `state-0.${suffix}`]);
  });

  it('is not renamed by an exporter that may not write there', async () => {
    await put('garbage');
    const first = await open();
    await put('garbage');
    const second = await StateKeeper.open({ folder, shard: 0, clock, log });
    keepers.push(first, second);
    expect(await readFile(file(), 'utf8').catch(() => 'renamed')).toBe('garbage');
  });
});

describe('a folder that cannot be written', () => {
  it('is reported once, and costs nothing else', async () => {
    const parent = join(folder, '..', 'a-file');
    await writeFile(parent, '');
    const keeper = await open({ folder: join(parent, 'data') });
    keeper.start(source(server()));
    await clock.advance(2 * MINUTE);
    await keeper.stop();
    expect(warnings()).toEqual([
      `the servers' state can't be kept in ${join(parent, 'data')}: a part of the path is a file, so a restart loses it; set --storage.path to a folder that the exporter can write, or turn this off with --storage.path= (empty)`,
    ]);
  });

  it('because its disk is full keeps the file of before, and is reported once, and when it can be written again', async () => {
    const before = [...stateText([server()])].join('');
    await put(before);
    await symlink('/dev/full', `${file()}.tmp`);
    const keeper = await open();
    keeper.start(source(server({ seenAt: 7 })));
    await clock.advance(MINUTE);
    await eventually(() =>
      expect(warnings()[0]).toContain('the disk is full, so a restart loses it; delete files there, or'),
    );
    expect(await readFile(file(), 'utf8')).toBe(before);
    await eventually(async () => {
      await clock.advance(MINUTE);
      expect(log.lines.at(-1)?.message).toBe(`the servers' state is kept in ${folder} again`);
    });
    expect(warnings()).toHaveLength(1);
  });
});

describe('a system clock that was set back', () => {
  it('is reported, and what is kept is used', async () => {
    await put([...stateText([server({ seenAt: clock.toUnixMs(clock.now()) + 3_600_000 })])].join(''));
    const keeper = await open();
    expect(warnings()).toEqual([
      `state in ${file()} is dated 1h in the future: using it as current; check the system clock`,
    ]);
    expect(keeper.take(target({ id: ID }))).toBeDefined();
  });
});

it('only the owner may read the folder and the file', async () => {
  const keeper = await open();
  keeper.start(source(server()));
  await keeper.stop();
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  expect((await stat(file())).mode & 0o777).toBe(0o600);
});
