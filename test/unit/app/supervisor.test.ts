import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemNames } from '../../../src/addresses/name-lookups.ts';
import { SINGLE_SHARD } from '../../../src/app/shard.ts';
import { SocketLimit } from '../../../src/app/socket-limit.ts';
import { Supervisor } from '../../../src/app/supervisor.ts';
import type { Config } from '../../../src/config/config.ts';
import { parseConfig } from '../../../src/config/parse.ts';
import { collectingLogger } from '../../support/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';

describe('the panels of a configuration', () => {
  let clock: ManualClock;
  let lookedUp: string[];
  let supervisor: Supervisor;

  beforeEach(() => {
    clock = new ManualClock();
    lookedUp = [];
  });
  afterEach(() => supervisor.stop());

  /** A configuration with these panels, each with the servers of these ids. */
  async function configOf(panels: Readonly<Record<string, readonly string[]>>): Promise<Config> {
    const entries = Object.entries(panels).map(([name, ids]) => ({
      name,
      url: `https://${name}.example.com`,
      api_key: `ptlc_${name}`,
      limits_from_listing: false,
      servers: ids.map((id) => ({ id })),
    }));
    const { config } = await parseConfig(JSON.stringify({ panels: entries }), 'config.yaml', {});
    if (config === undefined) throw new Error('expected a valid configuration');
    return config;
  }

  async function start(panels: Readonly<Record<string, readonly string[]>>): Promise<void> {
    supervisor = new Supervisor(await configOf(panels), {
      clock,
      log: collectingLogger(),
      random: () => 0.5,
      telemetry: () => ({}),
      shard: SINGLE_SHARD,
      isOurs: () => true,
      socketLimit: new SocketLimit(),
      queryClient: { query: () => Promise.reject(new Error('no client')) },
      // No lookup finds an address, so nothing connects.
      names: systemNames((name) => {
        lookedUp.push(name);
        return Promise.reject(new Error('not found'));
      }),
    });
    supervisor.start();
    await clock.advance(1_000);
  }

  const ids = () => supervisor.servers().map(({ target }) => target.id);

  it('form one list, which is replaced when a panel or server is added or removed', async () => {
    await start({ one: ['aaaaaaaa'], two: ['bbbbbbbb'] });
    const list = supervisor.servers();
    expect(supervisor.servers()).toBe(list);
    const grown = await supervisor.apply(
      await configOf({ one: ['aaaaaaaa'], two: ['bbbbbbbb', 'dddddddd'] }),
    );
    expect(grown).toEqual({
      panels: { added: 0, removed: 0, rebuilt: 0, changed: 0, unchanged: 2 },
      servers: { added: 1, removed: 0, changed: 0, unchanged: 2 },
    });
    expect(ids()).toEqual(['aaaaaaaa', 'bbbbbbbb', 'dddddddd']);
    const replaced = await supervisor.apply(await configOf({ three: ['cccccccc'], two: ['bbbbbbbb'] }));
    expect(replaced).toEqual({
      panels: { added: 1, removed: 1, rebuilt: 0, changed: 0, unchanged: 1 },
      servers: { added: 1, removed: 2, changed: 0, unchanged: 1 },
    });
    expect(ids()).toEqual(['cccccccc', 'bbbbbbbb']);
    expect(list).toHaveLength(2);
    await clock.advance(1_000);
    expect(lookedUp).toContain('three.example.com');
  });

  it('count a server as changed if its description is new, or its panel has another address', async () => {
    await start({ one: ['aaaaaaaa', 'bbbbbbbb'], two: ['cccccccc'] });
    const config = await configOf({ one: ['aaaaaaaa', 'bbbbbbbb'], two: ['cccccccc'] });
    const panels = config.panels.map((panel, index) => ({
      ...panel,
      url: `https://panel.${panel.name}.example.com`.replace('panel.one', 'one'),
      servers: panel.servers.map((server, at) => ({
        ...server,
        mode: index + at === 0 ? 'poll' : server.mode,
      })),
    }));
    expect(await supervisor.apply({ ...config, panels })).toEqual({
      panels: { added: 0, removed: 0, rebuilt: 1, changed: 0, unchanged: 1 },
      servers: { added: 0, removed: 0, changed: 2, unchanged: 1 },
    });
  });

  it('start only once those that were removed have stopped, so that no server has two sockets', async () => {
    await start({ one: ['aaaaaaaa'] });
    const fleet = supervisor.running[0]?.fleet;
    if (fleet === undefined) throw new Error('expected a panel');
    const stop = fleet.stop.bind(fleet);
    let end: () => void = () => undefined;
    fleet.stop = () => new Promise<void>((resolve) => (end = resolve)).then(stop);
    const changing = supervisor.apply(await configOf({ two: ['aaaaaaaa'] }));
    await clock.advance(1_000);
    expect(lookedUp).not.toContain('two.example.com');
    end();
    await changing;
    await clock.advance(1_000);
    expect(lookedUp).toContain('two.example.com');
  });

  it('are not started if they are added during a stop', async () => {
    await start({ one: ['aaaaaaaa'] });
    const changing = supervisor.apply(await configOf({ two: ['bbbbbbbb'] }));
    await supervisor.stop();
    await changing;
    await clock.advance(1_000);
    expect(lookedUp).toContain('one.example.com');
    expect(lookedUp).not.toContain('two.example.com');
  });
});
