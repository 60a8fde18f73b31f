import { beforeEach, describe, expect, it } from 'vitest';
import { describeChanges, Reloader } from '../../../src/app/reloader.ts';
import type { ConfigChanges } from '../../../src/app/supervisor.ts';
import type { Config, LoadResult } from '../../../src/config/config.ts';
import { eventually } from '../../support/eventually.ts';
import { collectingLogger } from '../../support/logger.ts';

const CONFIG: Config = { panels: [], log: { level: 'info', format: 'auto' } };
const NOTHING: ConfigChanges = {
  panels: { added: 0, removed: 0, rebuilt: 0, changed: 0, unchanged: 1 },
  servers: { added: 0, removed: 0, changed: 0, unchanged: 12 },
};

let log: ReturnType<typeof collectingLogger>;
let ended: boolean[];
let events: string[];
let load: () => Promise<LoadResult>;
let apply: () => Promise<ConfigChanges>;
let reloader: Reloader;

beforeEach(() => {
  log = collectingLogger();
  ended = [];
  events = [];
  load = () => Promise.resolve({ ok: true, config: CONFIG, secretFiles: [] });
  apply = () => Promise.resolve(NOTHING);
  reloader = new Reloader({
    log,
    load: () => {
      events.push('load');
      return load();
    },
    apply: () => {
      events.push('apply');
      return apply();
    },
    ended: (successful) => ended.push(successful),
  });
});

describe('a reload', () => {
  it('logs what changed in one line', async () => {
    apply = () => Promise.resolve({ ...NOTHING, servers: { ...NOTHING.servers, added: 2 } });
    const summary = 'configuration reloaded: panels: 1 unchanged; servers: 2 added, 12 unchanged';
    expect(await reloader.reload()).toEqual({ ok: true, summary });
    expect(log.lines.map(({ level, message }) => [level, message])).toEqual([['info', summary]]);
    expect(ended).toEqual([true]);
  });

  it('of an invalid configuration changes nothing and lists every problem with its position', async () => {
    const issues = [
      { file: 'config.yaml', line: 2, column: 5, path: 'panels[0].url', message: 'is missing' },
      { file: 'config.yaml', line: 3, column: 5, path: 'panels[0].name', message: 'is missing' },
    ];
    load = () => Promise.resolve({ ok: false, issues });
    const problems = [
      'config.yaml:2:5: panels[0].url: is missing',
      'config.yaml:3:5: panels[0].name: is missing',
    ];
    expect(await reloader.reload()).toEqual({ ok: false, problems: problems.join('\n') });
    expect(events).toEqual(['load']);
    expect(ended).toEqual([false]);
    expect(log.lines.map(({ level, message }) => [level, message])).toEqual([
      ['error', 'configuration reload failed, keeping the previous one: 2 problems'],
      ...problems.map((problem) => ['error', problem]),
    ]);
  });

  it.each<[string, () => void]>([
    ['reading', () => (load = () => Promise.reject(new Error('no luck')))],
    ['applying', () => (apply = () => Promise.reject(new Error('no luck')))],
  ])('that throws while %s the configuration fails, and the next one can succeed', async (_, arrange) => {
    const [goodLoad, goodApply] = [load, apply];
    arrange();
    expect(await reloader.reload()).toEqual({ ok: false, problems: 'no luck' });
    [load, apply] = [goodLoad, goodApply];
    expect(await reloader.reload()).toMatchObject({ ok: true });
    expect(ended).toEqual([false, true]);
  });

  it('requested during another starts after it, and later requests share it', async () => {
    let release: () => void = () => {};
    apply = () =>
      new Promise((resolve) => {
        release = () => {
          events.push('applied');
          resolve(NOTHING);
        };
      });
    const first = reloader.reload();
    const second = reloader.reload();
    const third = reloader.reload();
    expect(third).toBe(second);
    await Promise.resolve();
    await Promise.resolve();
    release();
    await first;
    await eventually(() => expect(events).toEqual(['load', 'apply', 'applied', 'load', 'apply']));
    const fourth = reloader.reload();
    release();
    await second;
    await eventually(() => expect(events.length).toBe(8));
    release();
    await fourth;
    expect(events.join(' ')).toBe(Array.from({ length: 3 }, () => 'load apply applied').join(' '));
  });

  it('in progress when the exporter stops applies nothing', async () => {
    const running = reloader.reload();
    reloader.stop();
    expect(await running).toEqual({ ok: false, problems: 'the exporter is stopping' });
    expect(events).toEqual(['load']);
    expect(log.lines).toEqual([]);
  });

  it('fails if the configuration did not come from a file', async () => {
    const bare = new Reloader({ log, apply: () => apply(), ended: (successful) => ended.push(successful) });
    expect(await bare.reload()).toMatchObject({ ok: false });
    expect(ended).toEqual([false]);
  });
});

it.each<[ConfigChanges, string]>([
  [NOTHING, 'nothing changed (panels: 1 unchanged; servers: 12 unchanged)'],
  [
    {
      panels: { added: 1, removed: 2, rebuilt: 3, changed: 4, unchanged: 0 },
      servers: { added: 5, removed: 6, changed: 7, unchanged: 8 },
    },
    'panels: 1 added, 2 removed, 3 rebuilt, 4 changed, 0 unchanged; servers: 5 added, 6 removed, 7 changed, 8 unchanged',
  ],
])('changes are described in words', (changes, words) => {
  expect(describeChanges(changes)).toBe(words);
});
