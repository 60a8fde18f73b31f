import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { promisify } from 'node:util';
import picomatch from 'picomatch';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { parseConfig } from '../../../src/config/config.ts';
import {
  isInRepository,
  readManifest,
  readText,
  readYaml,
  repositoryPath,
} from '../../support/deploy-files.ts';
import { hasProgram } from '../../support/has-program.ts';

const run = promisify(execFile);
const FOLDER = 'deploy/compose';

const hasPromtool = hasProgram('promtool');

const port = z.string().regex(/^127\.0\.0\.1:\d+:\d+$/, 'open to this machine only');

/** The parts of the compose specification that the file uses; anything else is a mistake. */
const serviceSchema = z.strictObject({
  image: z
    .string()
    .regex(/^[a-z./-]+:v?\d+\.\d+\.\d+(?:-rc\.\d+)?(?:@sha256:[0-9a-f]{64})?$/, 'an exact version'),
  build: z.strictObject({ context: z.string() }).optional(),
  restart: z.literal('unless-stopped'),
  read_only: z.boolean().optional(),
  cap_drop: z.array(z.string()).optional(),
  security_opt: z.array(z.string()).optional(),
  profiles: z.array(z.string()).optional(),
  entrypoint: z.tuple([z.literal('/bin/sh'), z.literal('-c'), z.string(), z.string()]).optional(),
  command: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string()).optional(),
  healthcheck: z.strictObject({ disable: z.boolean() }).optional(),
  configs: z.array(z.strictObject({ source: z.string(), target: z.string() })).optional(),
  secrets: z.array(z.string()).optional(),
  volumes: z.array(z.string()).optional(),
  ports: z.array(port).optional(),
  ulimits: z.strictObject({ nofile: z.int() }).optional(),
  networks: z.strictObject({ default: z.strictObject({ aliases: z.array(z.string()) }) }).optional(),
  network_mode: z.string().optional(),
  depends_on: z.record(z.string(), z.strictObject({ condition: z.literal('service_started') })).optional(),
});

const files = z.record(z.string(), z.strictObject({ file: z.string() }));

const composeSchema = z.object({
  name: z.string(),
  services: z.record(z.string(), serviceSchema),
  configs: files,
  secrets: files,
  volumes: z.record(z.string(), z.null()),
});

const prometheusSchema = z.object({
  rule_files: z.array(z.string()),
  alerting: z.object({
    alertmanagers: z.array(z.object({ static_configs: z.array(z.object({ targets: z.array(z.string()) })) })),
  }),
  scrape_configs: z.array(
    z.object({ job_name: z.string(), static_configs: z.array(z.object({ targets: z.array(z.string()) })) }),
  ),
});

const compose = composeSchema.parse(readYaml(`${FOLDER}/compose.yaml`)[0]);
const prometheus = prometheusSchema.parse(readYaml(`${FOLDER}/prometheus.yml`)[0]);
const services = new Map(Object.entries(compose.services));

/** The services of a profile. */
const running = (profile: string) =>
  [...services].flatMap(([name, { profiles }]) => ((profiles?.includes(profile) ?? true) ? [name] : []));

/** The source of a path in a service's container: a path in the repository, or undefined. */
function mountedFrom(service: string, path: string): string | undefined {
  for (const volume of services.get(service)?.volumes ?? []) {
    const [source = '', target = ''] = volume.split(':');
    if (source.startsWith('.') && (path === target || path.startsWith(`${target}/`))) {
      return posix.join(FOLDER, source, path.slice(target.length));
    }
  }
  return undefined;
}

describe('the compose file', () => {
  it('refers only to services, files and volumes that exist', () => {
    for (const [name, service] of services) {
      for (const { source } of service.configs ?? []) expect(compose.configs, name).toHaveProperty(source);
      for (const secret of service.secrets ?? []) expect(compose.secrets, name).toHaveProperty(secret);
      for (const other of Object.keys(service.depends_on ?? {}))
        expect([...services.keys()]).toContain(other);
      for (const volume of service.volumes ?? []) {
        const [source = '', , mode] = volume.split(':');
        if (!source.startsWith('.')) expect(compose.volumes, volume).toHaveProperty(source);
        else {
          expect(isInRepository(posix.join(FOLDER, source)), volume).toBe(true);
          expect(mode, volume).toBe('ro');
        }
      }
    }
    for (const { file } of Object.values(compose.configs)) {
      expect(isInRepository(posix.join(FOLDER, file)), file).toBe(true);
    }
  });

  it('refers to every image that it does not build by its digest', () => {
    const images = [...services.values()]
      .filter(({ build }) => build === undefined)
      .map(({ image }) => image);
    expect(images).toHaveLength(3);
    for (const image of images) expect(image).toMatch(/@sha256:[0-9a-f]{64}$/);
  });

  it('keeps the key out of the repository', () => {
    const key = compose.secrets['panel-key']?.file ?? '';
    expect(readText(`${FOLDER}/.gitignore`).split('\n')).toContain(posix.basename(key));
  });

  it('builds the exporter from its own checkout and version, with a read-only file system', () => {
    const ours = [...services.values()].filter(({ build }) => build !== undefined);
    expect(ours).toHaveLength(3);
    for (const service of ours) {
      expect(isInRepository(posix.join(FOLDER, service.build?.context ?? '', 'Dockerfile'))).toBe(true);
      expect(service).toMatchObject({
        image: `gameserver-exporter:${readManifest().version}`,
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
      });
    }
  });

  it('keeps the state of the exporter of a real panel in a volume', () => {
    const flag = (service: string) =>
      services.get(service)?.command?.find((argument) => argument.startsWith('--storage.path='));
    const [volume] = services.get('exporter')?.volumes ?? [];
    expect(flag('exporter')).toBe(`--storage.path=${volume?.split(':')[1]}`);
    expect(flag('demo-exporter')).toBe('--storage.path=');
  });

  it.each(['panel', 'demo'])(
    'with the profile %s, Prometheus reaches its targets and Alertmanager',
    (profile) => {
      const aliases = running(profile).flatMap((name) => services.get(name)?.networks?.default.aliases ?? []);
      const names = running(profile).concat(aliases);
      const targets = [
        ...prometheus.scrape_configs.flatMap((job) => job.static_configs),
        ...prometheus.alerting.alertmanagers.flatMap((manager) => manager.static_configs),
      ].flatMap((config) => config.targets);
      expect(targets).toContain('exporter:10317');
      for (const target of targets) {
        const [host = ''] = target.split(':');
        if (host !== 'localhost') expect(names, target).toContain(host);
      }
    },
  );

  it("gives Grafana a data source that exists, and the dashboards in their provider's folder", () => {
    const [sources] = readYaml('deploy/grafana/provisioning/datasources/prometheus.yaml') as [
      { datasources: { url: string }[] },
    ];
    expect(sources.datasources.map(({ url }) => url)).toEqual(['http://prometheus:9090']);
    expect(mountedFrom('grafana', '/etc/grafana/provisioning')).toBe('deploy/grafana/provisioning');
    const [providers] = readYaml('deploy/grafana/provisioning/dashboards/gameserver-exporter.yaml') as [
      { providers: { options: { path: string } }[] },
    ];
    for (const { options } of providers.providers) {
      expect(mountedFrom('grafana', options.path)).toBe('deploy/grafana/dashboards');
    }
    const home = services.get('grafana')?.environment?.['GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH'] ?? '';
    expect(isInRepository(mountedFrom('grafana', home) ?? 'nowhere'), home).toBe(true);
  });
});

describe('the configurations for compose', () => {
  it.each(['config.yaml', 'demo.yaml'])('%s is valid for the exporter', async (name) => {
    const { issues } = await parseConfig(readText(`${FOLDER}/${name}`), name, {});
    expect(issues).toEqual([]);
  });

  it("the demo's exporter uses the simulated panel and its key", () => {
    const [config] = readYaml(`${FOLDER}/demo.yaml`) as [{ panels: { url: string; api_key: string }[] }];
    const { command = [] } = services.get('simulated-panel') ?? {};
    expect(command).toEqual(['simulate', '--api-key', config.panels[0]?.api_key]);
    expect(config.panels[0]?.url).toBe('http://127.0.0.1:10318');
    expect(services.get('demo-exporter')?.network_mode).toBe('service:simulated-panel');
  });

  it("the key's path is where its secret is mounted", () => {
    expect(readText(`${FOLDER}/config.yaml`)).toContain('api_key_file: /run/secrets/panel-key');
    expect(services.get('exporter')?.secrets).toEqual(['panel-key']);
  });

  it.skipIf(!hasPromtool)(
    "Prometheus' one is valid, with the mounted rules, according to promtool",
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'compose-'));
      onTestFinished(() => rm(folder, { recursive: true }));
      for (const pattern of prometheus.rule_files) {
        const from = mountedFrom('prometheus', posix.dirname(pattern)) ?? '';
        const rules = (await readdir(repositoryPath(from))).filter((name) => /\.ya?ml$/.test(name));
        expect(rules.length, pattern).toBeGreaterThan(0);
        await mkdir(join(folder, 'rules'), { recursive: true });
        for (const name of rules) {
          expect(picomatch(posix.basename(pattern))(name), name).toBe(true);
          await writeFile(join(folder, 'rules', name), await readFile(repositoryPath(`${from}/${name}`)));
        }
      }
      const file = join(folder, 'prometheus.yml');
      await writeFile(file, readText(`${FOLDER}/prometheus.yml`).replaceAll('/etc/prometheus', folder));
      const { stdout } = await run('promtool', ['check', 'config', '--lint-fatal', file]);
      expect(stdout).toContain('is valid prometheus config file syntax');
    },
  );

  it.each([
    ['nobody', undefined, 'alertmanager.yml'],
    ['nobody with an empty file', '', 'alertmanager.yml'],
    ['Discord', 'https://discord.com/api/webhooks/1/a', 'discord.yml'],
  ])('Alertmanager notifies %s: with the webhook %j, it starts with %s', async (_, address, name) => {
    const folder = await mkdtemp(join(tmpdir(), 'notify-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    await mkdir(join(folder, 'notify'));
    if (address !== undefined) await writeFile(join(folder, 'notify/discord-webhook'), address);
    const { entrypoint: [shell, flag, script, own] = [], command = [] } = services.get('alertmanager') ?? {};
    const here = (script ?? '')
      .replaceAll('$$', '$')
      .replaceAll('/etc/alertmanager', folder)
      .replace('/bin/alertmanager', 'echo');
    const { stdout } = await run(shell ?? '', [flag ?? '', here, own ?? '', ...command]);
    expect(stdout.trim().split(' ')).toEqual([`--config.file=${folder}/${name}`, ...command]);
    expect(isInRepository(mountedFrom('alertmanager', `/etc/alertmanager/${name}`) ?? 'nowhere')).toBe(true);
  });

  it('the address for Discord is beside the compose file, and out of the repository', () => {
    const [, file = ''] = /webhook_url_file: (\S+)/.exec(readText('deploy/alertmanager/discord.yml')) ?? [];
    expect(mountedFrom('alertmanager', file)).toBe(`${FOLDER}/notify/discord-webhook`);
    expect(readText(`${FOLDER}/notify/.gitignore`)).toBe('*\n!.gitignore\n');
  });
});
