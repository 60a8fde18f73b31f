import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemNames } from '../../../src/addresses/name-lookups.ts';
import { Accounts } from '../../../src/app/accounts.ts';
import { RunningPanel } from '../../../src/app/running-panel.ts';
import { SINGLE_SHARD } from '../../../src/app/shard.ts';
import { SocketLimit } from '../../../src/app/socket-limit.ts';
import type { PanelConfig } from '../../../src/config/config.ts';
import { parseConfig } from '../../../src/config/parse.ts';
import { ConnectPacer } from '../../../src/session/connect-pacer.ts';
import { collectingLogger } from '../../support/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';

/** Longer than the wait after any failed call. */
const A_WHILE = 600_000;

let clock: ManualClock;
let accounts: Accounts;
/** The hosts that were looked up. No lookup finds an address, so nothing connects. */
let lookedUp: Set<string>;
let panel: RunningPanel | undefined;

beforeEach(() => {
  clock = new ManualClock();
  accounts = new Accounts(clock);
  lookedUp = new Set();
});

afterEach(async () => {
  await panel?.fleet.stop();
  panel = undefined;
  vi.unstubAllEnvs();
});

/** The settings of a panel: the required ones, and these. */
async function settings(more: object = {}): Promise<PanelConfig> {
  const entry = {
    name: 'main',
    url: 'https://panel.example.com',
    api_key: 'ptlc_first',
    limits_from_listing: false,
    servers: [{ id: 'aaaaaaaa' }],
    ...more,
  };
  const { config } = await parseConfig(JSON.stringify({ panels: [entry] }), 'config.yaml', {});
  const [only] = config?.panels ?? [];
  if (only === undefined) throw new Error('expected a valid configuration');
  return only;
}

async function open(more: object = {}): Promise<RunningPanel> {
  const config = await settings(more);
  const connects = new ConnectPacer({
    now: () => clock.now(),
    nextTurn: (run) => void clock.schedule(0, run),
    afterPromises: (run) => void clock.schedule(0, run),
    isRendering: () => false,
  });
  panel = new RunningPanel(config, accounts.findOrAdd(config), {
    clock,
    log: collectingLogger(),
    random: () => 0.5,
    telemetry: () => ({}),
    shard: SINGLE_SHARD,
    isOurs: () => true,
    socketLimit: new SocketLimit(),
    queryClient: { query: () => Promise.reject(new Error('no client')) },
    names: systemNames((name) => {
      lookedUp.add(name);
      return Promise.reject(new Error('not found'));
    }),
    connects,
    isTaken: () => false,
  });
  return panel;
}

/** The hosts that the panel connects to from now on. */
async function reached(): Promise<readonly string[]> {
  lookedUp.clear();
  await clock.advance(A_WHILE);
  return [...lookedUp];
}

it('nothing is opened before the fleet is started', async () => {
  const { fleet } = await open();
  expect(await reached()).toEqual([]);
  fleet.start();
  expect(await reached()).toEqual(['panel.example.com']);
});

it("a panel can't be built if the environment's proxy is invalid", async () => {
  vi.stubEnv('https_proxy', 'ftp://proxy.example.com');
  await expect(open()).rejects.toThrow('`https_proxy` is not the URL of a proxy');
});

describe('another configuration', () => {
  it('is used once it is applied, and not when it is prepared', async () => {
    const running = await open();
    const before = running.config;
    const next = await settings({ servers: [{ id: 'bbbbbbbb' }] });
    const apply = running.prepare(next, accounts);
    expect(running.config).toBe(before);
    expect(running.fleet.records.map(({ target }) => target.id)).toEqual(['aaaaaaaa']);
    apply();
    expect(running.config).toBe(next);
    expect(running.fleet.records.map(({ target }) => target.id)).toEqual(['bbbbbbbb']);
  });

  it.each([
    ['another key', { api_key: 'ptlc_second' }, false],
    ['another timeout', { request_timeout: '7s' }, true],
    ['the same settings', {}, true],
  ])('with %s keeps the account: %s', async (_what, more, isKept) => {
    const running = await open();
    const { account } = running;
    running.prepare(await settings(more), accounts)();
    expect(running.account === account).toBe(isKept);
  });

  it('with a key from before has the account from before', async () => {
    const running = await open();
    const { account } = running;
    for (const key of ['ptlc_second', 'ptlc_first']) {
      running.prepare(await settings({ api_key: key }), accounts)();
    }
    expect(running.account).toBe(account);
  });

  it.each([
    ['the settings of calls', { request_timeout: '7s' }, ['proxy.example.com']],
    ['anything else', { poll_interval: '75s' }, ['panel.example.com']],
    ['nothing', {}, ['panel.example.com']],
  ])('has new connections to the panel if it changes %s', async (_what, more, hosts) => {
    const running = await open();
    running.fleet.start();
    expect(await reached()).toEqual(['panel.example.com']);
    // New connections use the new proxy.
    vi.stubEnv('https_proxy', 'http://proxy.example.com:3128');
    running.prepare(await settings(more), accounts)();
    expect(await reached()).toEqual(hosts);
  });

  it('is refused without a change if the proxy is invalid', async () => {
    const running = await open();
    const { config } = running;
    vi.stubEnv('https_proxy', 'ftp://proxy.example.com');
    const next = await settings({ request_timeout: '7s' });
    expect(() => running.prepare(next, accounts)).toThrow('`https_proxy` is not the URL of a proxy');
    expect(running.config).toBe(config);
  });
});
