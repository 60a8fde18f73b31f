import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { promisify } from 'node:util';
import picomatch from 'picomatch';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { listenAddressOption } from '../../../src/commands/serve-flags.ts';
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

/** The parts of the compose specification that the file uses. Any other part is a mistake. */
const serviceSchema = z.strictObject({
  image: z
    .string()
    .regex(/^[a-z./-]+:v?\d+\.\d+\.\d+(?:-rc\.\d+)?(?:@sha256:[0-9a-f]{64})?$/, 'an exact version'),
  build: z.strictObject({ context: z.string() }).optional(),
  pull_policy: z.literal('never').optional(),
  restart: z.enum(['unless-stopped', 'no']),
  user: z.string().optional(),
  read_only: z.boolean().optional(),
  cap_drop: z.array(z.string()).optional(),
  security_opt: z.array(z.string()).optional(),
  profiles: z.array(z.string()).optional(),
  entrypoint: z.tuple([z.literal('/bin/sh'), z.literal('-c'), z.string(), z.string()]).optional(),
  command: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string()).optional(),
  volumes: z.array(z.string()).optional(),
  ports: z.array(port).optional(),
  ulimits: z.strictObject({ nofile: z.int() }).optional(),
  networks: z.strictObject({ default: z.strictObject({ aliases: z.array(z.string()) }) }).optional(),
});

const composeSchema = z.strictObject({
  'x-exporter': z.looseObject({}),
  'x-exporter-port': port,
  name: z.string(),
  services: z.record(z.string(), serviceSchema),
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

/** The services that start with this profile. */
const running = (profile: string) =>
  [...services].flatMap(([name, { profiles }]) => ((profiles?.includes(profile) ?? true) ? [name] : []));

/**
 * The path in the repository that is mounted at this path of a service; undefined if there is none.
 */
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
      for (const volume of service.volumes ?? []) {
        const [source = '', , mode] = volume.split(':');
        if (!source.startsWith('.')) expect(compose.volumes, volume).toHaveProperty(source);
        else {
          expect(isInRepository(posix.join(FOLDER, source)), volume).toBe(true);
          // Only `init` writes to a folder of the host.
          expect(mode, volume).toBe(name === 'init' ? undefined : 'ro');
        }
      }
    }
  });

  it('refers to every image that it does not build by its digest', () => {
    const images = [...services.values()]
      .filter(({ build }) => build === undefined)
      .map(({ image }) => image);
    expect(images).toHaveLength(3);
    for (const image of images) expect(image).toMatch(/@sha256:[0-9a-f]{64}$/);
  });

  it('has one folder for the configuration and the key, where init writes them, out of the repository', () => {
    for (const service of ['init', 'exporter'])
      expect(mountedFrom(service, '/etc/gameserver-exporter')).toBe(`${FOLDER}/exporter`);
    expect(readText('Dockerfile')).toContain('WORKDIR /etc/gameserver-exporter\n');
    expect(readText(`${FOLDER}/exporter/.gitignore`)).toBe('*\n!.gitignore\n');
    expect(services.get('init')?.command).toEqual(['init']);
  });

  it('runs the exporter and init as the same user, as the installation guide sets it', () => {
    const [, variable = ''] = /^\$\{(\w+):-65532:65532\}$/.exec(services.get('exporter')?.user ?? '') ?? [];
    expect(readText('docs/install.md')).toContain(`echo "${variable}=$(id -u):$(id -g)" >> .env\n`);
    expect(services.get('init')?.user).toBe(services.get('exporter')?.user);
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
    const [, volume] = services.get('exporter')?.volumes ?? [];
    expect(flag('exporter')).toBe(`--storage.path=${volume?.split(':')[1]}`);
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
  it('the demo is open to the other containers', () => {
    const { command = [] } = services.get('demo') ?? {};
    const flags = listenAddressOption('127.0.0.1:1');
    expect(command).toContain(`${flags.long}=:10317`);
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
