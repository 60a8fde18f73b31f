import { afterEach, describe, expect, it } from 'vitest';
import { type App, type AppOptions, createApp } from '../../../src/app/app.ts';
import type { Config } from '../../../src/config/config.ts';
import { parseConfig } from '../../../src/config/parse.ts';
import { collectingLogger } from '../../support/logger.ts';

/** A panel whose port rejects every connection. */
const YAML = `panels:
  - name: main
    url: http://127.0.0.1:1
    api_key: ptlc_a_key_of_this_test_that_is_long_enough
    servers: [{ id: 1a7ce997, name: survival }]
`;

const apps: App[] = [];
afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.stop()));
});

async function configOf(yaml: string): Promise<Config> {
  const { config, issues } = await parseConfig(yaml, 'test', {});
  if (config === undefined) throw new Error(JSON.stringify(issues));
  return config;
}

async function create(options: Partial<AppOptions> = {}): Promise<App> {
  const listen = { host: '127.0.0.1', port: 0 };
  const app = createApp({ config: await configOf(YAML), listen, log: collectingLogger(), ...options });
  apps.push(app);
  return app;
}

const text = async (url: string) => await (await fetch(url)).text();

describe('the exporter', () => {
  it('serves its metrics once it has started, although its panel is down', async () => {
    const { url } = await (await create()).start();
    expect(await text(`${url}/metrics`)).toContain('gameserver_info{panel="main",server="survival"');
    expect((await fetch(`${url}/-/ready`)).status).toBe(200);
  });

  it('serves nothing more after it has stopped', async () => {
    const app = await create();
    const { url } = await app.start();
    await app.stop();
    await expect(fetch(`${url}/metrics`)).rejects.toThrow('fetch failed');
  });

  it('names each of its addresses, the first of them also as its URL', async () => {
    const listen = [
      { host: '127.0.0.1', port: 0 },
      { host: '127.0.0.1', port: 0 },
    ];
    const { url, urls } = await (await create({ listen })).start();
    expect([urls.length, urls[0]]).toEqual([2, url]);
    expect(new Set(urls).size).toBe(2);
  });
});

describe('a reload', () => {
  it('applies the new configuration, and hands it on', async () => {
    const next = await configOf(`${YAML}compatibility: pterodactyl_exporter\n`);
    const applied: Config[] = [];
    const app = await create({
      load: () => Promise.resolve({ ok: true, config: next, secretFiles: [] }),
      reloaded: (config) => void applied.push(config),
    });
    const { url } = await app.start();
    expect(await text(`${url}/metrics`)).not.toContain('pterodactyl_server_');
    expect(await app.reload()).toMatchObject({ ok: true });
    expect(applied).toEqual([next]);
    expect(await text(`${url}/metrics`)).toContain('pterodactyl_server_');
  });

  it('is impossible without a file, which is reported as a failure', async () => {
    const app = await create();
    const { url } = await app.start();
    expect(await app.reload()).toMatchObject({ ok: false });
    expect(await text(`${url}/metrics`)).toMatch(/^gameserver_exporter_config_last_reload_successful 0$/m);
  });

  it('can be requested over HTTP only where that is enabled', async () => {
    const load = async () => ({ ok: true, config: await configOf(YAML), secretFiles: [] }) as const;
    const { url } = await (await create({ load })).start();
    expect((await fetch(`${url}/-/reload`, { method: 'POST' })).ok).toBe(false);
    const { url: other } = await (await create({ load, enableLifecycle: true })).start();
    expect((await fetch(`${other}/-/reload`, { method: 'POST' })).status).toBe(200);
  });
});
