import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readManifest, repositoryPath } from '../support/deploy-files.ts';
import { npmEnvironment } from '../support/npm-package.ts';

const run = promisify(execFile);
const { version } = readManifest();
const PACKAGE = `gameserver-exporter-${version}.tgz`;

/** The image and runbooks of the repository `Some-Host/exporter`. */
const IMAGE = 'ghcr.io/some-host/exporter';
const DIGEST = `sha256:${'0123456789abcdef'.repeat(4)}`;
const LINKS = `https://github.com/Some-Host/exporter/blob/v${version}`;

interface NamedManifest {
  readonly homepage: string;
  readonly bugs: string;
  readonly repository: { readonly type: string; readonly url: string };
}

interface GrafanaLinks {
  readonly links: readonly { readonly title: string; readonly url?: string }[];
}

interface RuleFile {
  readonly groups: readonly { readonly rules: readonly object[] }[];
}

/** Copies the files of a release: all files of the repository except for tests. */
async function copyProject(folder: string): Promise<void> {
  // In a workflow's container, the checkout belongs to another user, so Git would refuse to read
  // it.
  const trusting = ['-c', 'safe.directory=*'];
  const listing = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const { stdout } = await run('git', [...trusting, ...listing], { cwd: repositoryPath('.') });
  for (const file of stdout.split('\0').filter((name) => name !== '' && !name.startsWith('test/'))) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await cp(repositoryPath(file), join(folder, file));
  }
  await symlink(repositoryPath('node_modules'), join(folder, 'node_modules'));
}

/** All steps of a release that need no network, in a copy of the project. */
describe('a release made in a repository', () => {
  let root: string;
  let project: string;
  let release: string;

  const at = (command: string, args: readonly string[], cwd = project) =>
    run(command, args, { cwd, env: npmEnvironment(), maxBuffer: 16 * 1024 * 1024 });

  /** Unpacks the release's deployment files into a new folder. */
  const unpackDeploy = async (name: string) => {
    const folder = join(root, name);
    await mkdir(folder);
    await at('tar', ['-xzf', join(release, `gameserver-exporter-deploy-${version}.tar.gz`)], folder);
    return folder;
  };

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'release-'));
    project = join(root, 'project');
    release = join(root, 'release');
    await copyProject(project);
    await at('node', [
      'scripts/release/name-repository.mjs',
      'https://github.com',
      'Some-Host/exporter',
      DIGEST,
    ]);
    await at('bash', ['scripts/release/pack.sh', release]);
  });

  afterAll(() => rm(root, { recursive: true, force: true }));

  it("has a package that contains the repository's address, which npm requires for provenance", async () => {
    const { stdout } = await at('tar', ['-xzOf', join(release, PACKAGE), 'package/package.json']);
    const { homepage, bugs, repository } = JSON.parse(stdout) as NamedManifest;
    expect({ homepage, bugs, repository }).toEqual({
      homepage: 'https://github.com/Some-Host/exporter#readme',
      bugs: 'https://github.com/Some-Host/exporter/issues',
      repository: { type: 'git', url: 'git+https://github.com/Some-Host/exporter.git' },
    });
  });

  it('has documentation that uses its package and image, and links to the repository for what it lacks', async () => {
    const pageOf = async (page: string) =>
      (await at('tar', ['-xzOf', join(release, PACKAGE), `package/${page}`])).stdout;
    const readme = await pageOf('README.md');
    expect(readme).toContain(`\nnpx gameserver-exporter@${version} demo\n`);
    expect(readme).toContain(`(${LINKS}/deploy/systemd/gameserver-exporter.service)`);
    expect(readme).toContain('(docs/install.md)');
    const guide = await pageOf('docs/install.md');
    expect(guide).toContain(`\nThe image is \`${IMAGE}:${version}\`.\n`);
    expect(guide).toContain(`\n  ${IMAGE}:${version}\n`);
    expect(guide).toContain(`:/etc/gameserver-exporter" ${IMAGE}:${version}'\n`);
    expect(readme).toContain(` ${IMAGE}:${version} demo --web.listen-address :10317\n`);
    for (const text of [readme, guide])
      expect(text).not.toMatch(/git clone|npm run package|docker build|<!-- (?:checkout|release)/);
  });

  it('has a package that npm would publish unchanged', async () => {
    const { stderr } = await at(
      'npm',
      ['publish', `./${PACKAGE}`, '--dry-run', '--access', 'public', '--ignore-scripts', '--tag', 'next'],
      release,
    );
    expect(stderr).toContain(`gameserver-exporter@${version}`);
    // npm reports corrections of a manifest.
    expect(stderr).not.toContain('auto-corrected');
  });

  it('links alerts to the runbooks of this version, and Kubernetes to the image', async () => {
    const deploy = await unpackDeploy('unpacked');
    const rules = await readFile(join(deploy, 'deploy/prometheus/rules/gameserver.yml'), 'utf8');
    const { groups } = parse(rules) as RuleFile;
    expect(groups[0]?.rules[0]).toMatchObject({
      record: 'gameserver:links:info',
      labels: { runbooks: LINKS },
    });
    for (const overlay of ['one', 'many']) {
      const file = join(deploy, `deploy/kubernetes/overlays/${overlay}/kustomization.yaml`);
      expect(parse(await readFile(file, 'utf8')), overlay).toMatchObject({
        images: [{ name: 'gameserver-exporter', newName: IMAGE, newTag: version }],
      });
    }
  });

  it('links Grafana dashboards to the documentation of this version', async () => {
    const deploy = join(await unpackDeploy('documented'), 'deploy/grafana/dashboards');
    for (const name of ['fleet', 'server', 'exporter']) {
      const { links } = JSON.parse(await readFile(join(deploy, `${name}.json`), 'utf8')) as GrafanaLinks;
      expect(links.map(({ title, url }) => [title, url]).at(-1), name).toEqual([
        'Documentation',
        `${LINKS}/deploy/grafana/README.md`,
      ]);
      expect(links.length, name).toBeGreaterThan(1);
    }
  });

  it('has an egg that installs its package only, verified by the hash that npm will list', async () => {
    const file = join(await unpackDeploy('egg'), 'deploy/pterodactyl/egg-gameserver-exporter.json');
    const { scripts } = JSON.parse(await readFile(file, 'utf8')) as {
      scripts: { installation: { script: string } };
    };
    const hash = createHash('sha512').update(await readFile(join(release, PACKAGE)));
    const lines = scripts.installation.script.split('\n');
    expect(lines).toContain(`release=gameserver-exporter@${version}`);
    expect(lines).toContain(`integrity='sha512-${hash.digest('base64')}'`);
  });

  it('has a compose file with its image by digest, which needs no checkout', async () => {
    const text = await readFile(join(await unpackDeploy('compose'), 'deploy/compose/compose.yaml'), 'utf8');
    const { services } = parse(text, { merge: true }) as {
      services: Record<string, { image: string; build?: object }>;
    };
    for (const name of ['exporter', 'init', 'demo']) {
      expect(services[name]).toMatchObject({ image: `${IMAGE}:${version}@${DIGEST}` });
      expect(services[name]).not.toHaveProperty('build');
    }
  });

  it('has checksums of all published files', async () => {
    const sums = await readFile(join(release, 'SHA256SUMS'), 'utf8');
    const files = [
      PACKAGE,
      `gameserver-exporter-${version}.cdx.json`,
      `gameserver-exporter-deploy-${version}.tar.gz`,
    ];
    const lines = await Promise.all(
      files.map(async (file) => {
        const sum = createHash('sha256')
          .update(await readFile(join(release, file)))
          .digest('hex');
        return `${sum}  ${file}`;
      }),
    );
    expect(sums.trim().split('\n').toSorted()).toEqual(lines.toSorted());
  });

  it('has release notes with the changes of this version only', async () => {
    const changes = await readFile(join(release, 'CHANGES.md'), 'utf8');
    expect(changes).toMatch(/^- \[/m);
    expect(changes).not.toMatch(/^## /m);
  });

  it('has its version in every file that contains one, and one command sets them all', async () => {
    const fresh = join(root, 'fresh');
    await copyProject(fresh);
    const pattern = `(gameserver-exporter(-deploy)?[-@:]|newTag: )${version}`;
    const naming = ['grep', '--no-index', '-lE', pattern, '--', 'README.md', 'docs', 'deploy'];
    const files = (await at('git', naming, fresh)).stdout.trim().split('\n');
    const read = () => Promise.all(files.map((file) => readFile(join(fresh, file), 'utf8')));
    const texts = await read();
    await at('npm', ['version', '--no-git-tag-version', '9.9.9-rc.9'], fresh);
    const renamed = (text: string) =>
      text.replaceAll(new RegExp(pattern, 'g'), (named) => named.replace(version, '9.9.9-rc.9'));
    expect(await read()).toEqual(texts.map(renamed));
    await at('npm', ['version', '--no-git-tag-version', version], fresh);
    expect(await read()).toEqual(texts);
  });

  it('is refused without an entry in the changelog, or without a repository, a digest or a package', async () => {
    await expect(at('node', ['scripts/release/changes.mjs', '9.9.9'])).rejects.toThrow(
      'move the entries of Unreleased',
    );
    const naming = ['scripts/release/name-repository.mjs', 'https://github.com'];
    for (const rest of [[], ['Some-Host/exporter'], ['Some-Host/exporter', 'sha256:0']]) {
      await expect(at('node', [...naming, ...rest])).rejects.toThrow('Usage');
    }
    await expect(at('node', ['scripts/release/pin-package.mjs'])).rejects.toThrow('Usage');
  });
});
