import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findServer } from '../../../src/commands/console-server.ts';
import { startSimulator } from '../../../src/simulator/simulator.ts';
import type { Simulator } from '../../../src/simulator/simulator-interface.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const OWN_KEY = 'ptlc_TheUsersOwnKey';

let panel: Simulator;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'console-'));
  panel = await startSimulator({
    apiKeys: ['ptlc_TheExportersKey', OWN_KEY],
    servers: [
      { name: 'survival' },
      { name: 'lobby' },
      { name: 'creative' },
      { name: 'foreign', owned: false },
    ],
    maxPerPage: 2,
  });
});

afterEach(async () => {
  await panel.stop();
  await rm(folder, { recursive: true });
});

const entry = (name: string, ...lines: readonly string[]) =>
  [`  - name: ${name}`, `    url: ${panel.url}`, `    api_key: ${panel.apiKey}`, ...lines].join('\n');
const DISCOVER = '    discover: { type: owner }';

async function find(
  wanted: string,
  panels: readonly string[],
  flags: { own?: boolean; panel?: string } = {},
) {
  const config = join(folder, 'config.yaml');
  await writeFile(config, ['panels:', ...panels].join('\n'));
  const apiKeyFile = join(folder, 'key');
  await writeFile(apiKeyFile, OWN_KEY);
  const key = flags.own === true ? { apiKeyFile } : {};
  const named = flags.panel === undefined ? {} : { panel: flags.panel };
  const found = await findServer(wanted, { config, ...key, ...named }, new ManualClock());
  return { panel: found.panel.name, id: found.target.id, key: found.panel.apiKey.reveal() };
}

const listings = () => panel.record.calls.filter(({ endpoint }) => endpoint === 'listing').length;

describe("a server that isn't in the configuration", () => {
  it('is found by its name, on any page of the server list', async () => {
    const { uuid } = panel.server('survival');
    const here = { panel: 'main', id: uuid, key: panel.apiKey };
    expect(await find('survival', [entry('main', DISCOVER)])).toEqual(here);
    expect(listings()).toBe(2);
    await expect(find('foreign', [entry('main', DISCOVER)])).rejects.toThrow(
      /^no server "foreign" in the configuration \(servers: /,
    );
  });

  it('is found on page 150 of a long server list, as serve finds it', async () => {
    await panel.stop();
    const others = Array.from({ length: 149 }, (_, n) => ({ name: `server-${n}` }));
    panel = await startSimulator({
      servers: [...others, { name: 'last' }],
      maxPerPage: 1,
      rateLimitPerMinute: 1_000,
    });
    const { uuid } = panel.server('last');
    expect(await find('last', [entry('main', DISCOVER)])).toMatchObject({ id: uuid });
    expect(listings()).toBe(150);
  });

  it("isn't searched for in a server list that isn't used, or if the configuration contains it", async () => {
    const servers = `    servers: [{ id: ${panel.server('survival').identifier}, name: mine }]`;
    await expect(find('survival', [entry('main', servers)])).rejects.toThrow('(servers: mine)');
    const { identifier } = panel.server('survival');
    expect(await find('mine', [entry('main', servers, DISCOVER)])).toMatchObject({ id: identifier });
    expect(listings()).toBe(0);
  });

  it("is searched for with the user's key on one panel only", async () => {
    const two = [entry('main', DISCOVER), entry('other', DISCOVER)];
    await expect(find('survival', two, { own: true })).rejects.toThrow(
      'add --panel <name> (panels: main, other)',
    );
    expect(listings()).toBe(0);
    expect(await find('survival', two, { own: true, panel: 'other' })).toMatchObject({
      panel: 'other',
      key: OWN_KEY,
    });
  });

  it.each([
    [
      'if only one of them discovers servers',
      'survivla',
      [DISCOVER, '    servers: [{ id: deadbeef, name: mine }]'],
    ],
    [
      'if none of them discovers servers',
      'feedbeef',
      ['    servers: [{ id: deadbeef }]', '    servers: [{ id: deadbee2 }]'],
    ],
    ['for an id that none of them contains', 'feedbeef', [DISCOVER, DISCOVER]],
  ])("needs --panel with the user's key and two panels, %s", async (_, wanted, sources) => {
    const two = sources.map((source, index) => entry(['main', 'other'][index] ?? '', source));
    await expect(find(wanted, two, { own: true })).rejects.toThrow(
      /^no server "\w+" in the configuration \(.+\); your own key is sent only to a panel that you select: add --panel <name> \(panels: main, other\)$/,
    );
    expect(panel.record.calls).toEqual([]);
  });

  it("can be found with the user's key and without --panel if the configuration of one panel contains it", async () => {
    const two = [entry('main', DISCOVER), entry('other', '    servers: [{ id: deadbeef, name: mine }]')];
    const mine = { panel: 'other', id: 'deadbeef', key: OWN_KEY };
    expect(await find('mine', two, { own: true })).toEqual(mine);
    expect(await find('deadbeef', two, { own: true })).toEqual(mine);
    expect(panel.record.calls).toEqual([]);
  });

  it("isn't found if the panel doesn't respond, and the error shows this", async () => {
    panel.failRest({ kind: 'refuse', endpoint: 'listing', status: 500 });
    await expect(find('survival', [entry('main', DISCOVER)])).rejects.toThrow(
      /^panel main: GET \/api\/client\S* returned 500/,
    );
  });
});
