import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readText, readYaml } from '../../support/deploy-files.ts';

const stepSchema = z
  .strictObject({
    id: z.string().optional(),
    name: z.string().optional(),
    // By commit, because a tag can be moved to other code.
    uses: z
      .string()
      .regex(/^[\w-]+\/[\w-]+(?:\/[\w-]+)?@[0-9a-f]{40}$/)
      .optional(),
    run: z.string().optional(),
    with: z.record(z.string(), z.unknown()).optional(),
    env: z.record(z.string(), z.string()).optional(),
  })
  .refine(({ uses, run }) => (uses === undefined) !== (run === undefined));

const access = z.enum(['read', 'write']);

const workflowSchema = z.strictObject({
  name: z.string(),
  on: z.record(z.string(), z.unknown()),
  // A job that needs more permissions requests them itself.
  permissions: z.strictObject({ contents: z.literal('read') }),
  concurrency: z.object({ group: z.string() }),
  jobs: z.record(
    z.string(),
    z.strictObject({
      if: z.string().optional(),
      needs: z.union([z.string(), z.array(z.string())]).optional(),
      'runs-on': z.string().regex(/^ubuntu-\d+\.\d+$/),
      'timeout-minutes': z.int(),
      strategy: z
        .strictObject({ 'fail-fast': z.boolean(), matrix: z.record(z.string(), z.array(z.string())) })
        .optional(),
      container: z.string().optional(),
      permissions: z.record(z.string(), access).optional(),
      outputs: z.record(z.string(), z.string()).optional(),
      steps: z.array(stepSchema),
    }),
  ),
});

const workflow = (name: string) => workflowSchema.parse(readYaml(`.github/workflows/${name}.yml`)[0]);
const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readText('package.json')));

const WORKFLOWS = ['codeql', 'release', 'scorecard', 'test'];

it('every workflow is covered', () => {
  expect(readdirSync(new URL('../../../.github/workflows', import.meta.url)).toSorted()).toEqual(
    WORKFLOWS.map((name) => `${name}.yml`),
  );
});

describe.each(WORKFLOWS)('the workflow %s', (name) => {
  const { jobs } = workflow(name);
  const steps = Object.values(jobs).flatMap((job) => job.steps);

  it('runs only existing scripts', () => {
    for (const { run = '' } of steps) {
      for (const [, script = ''] of run.matchAll(/npm (?:run ([\w:]+))/g)) {
        expect(Object.keys(scripts)).toContain(script);
      }
      for (const [, file = ''] of run.matchAll(/(?:node|bash) (scripts\/\S+)/g)) readText(file);
    }
  });

  it('notes the version of each action beside its commit', () => {
    const lines = readText(`.github/workflows/${name}.yml`).match(/^.*\buses:.*$/gm) ?? [];
    expect(lines).toHaveLength(steps.filter(({ uses }) => uses !== undefined).length);
    for (const line of lines) expect(line).toMatch(/@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  it('pins the images of containers by digest, unless the newest release of a version is tested', () => {
    for (const { container } of Object.values(jobs)) {
      if (container === undefined || container === 'node:${{ matrix.node }}-bookworm') continue;
      expect(container).toMatch(/^node:\d+\.\d+\.\d+-bookworm@sha256:[0-9a-f]{64}$/);
    }
  });

  it('does not store credentials in the checkout', () => {
    const checkouts = steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'));
    for (const checkout of checkouts) expect(checkout.with).toEqual({ 'persist-credentials': false });
  });

  it('puts no untrusted text into a shell', () => {
    for (const { run = '' } of steps) expect(run).not.toContain('${{');
  });
});

describe('the workflow test', () => {
  const { on, jobs } = workflow('test');

  it('runs all tests on every supported version of Node.js for every change', () => {
    expect(Object.keys(on)).toEqual(['push', 'pull_request', 'schedule']);
    expect(jobs['test']?.strategy?.matrix).toEqual({ node: ['20', '22', '24', '26'] });
    expect(jobs['test']?.steps.map(({ run }) => run)).toEqual([
      undefined,
      'npm ci',
      'npm test',
      'npm run test:long',
    ]);
  });

  it('renders the Kubernetes manifests for every change, where there is a kubectl', () => {
    expect(jobs['kubernetes']?.if).toBe("github.event_name != 'schedule'");
    expect(jobs['kubernetes']?.container).toBeUndefined();
    expect(jobs['kubernetes']?.steps.map(({ run }) => run).slice(-2)).toEqual([
      'npm ci',
      'npm run test:kubernetes',
    ]);
    expect(scripts['test:kubernetes']).toContain('KUBECTL=required ');
  });

  it('runs long tests at night', () => {
    expect(jobs['nightly']?.if).toBe("github.event_name == 'schedule'");
    const runs = jobs['nightly']?.steps.flatMap(({ run = '' }) => [run]).join('\n');
    for (const command of [
      'npm audit',
      'npm run test:fuzz',
      'npm run test:faults',
      'npm run test:alerts',
      'npm run test:image',
    ]) {
      expect(runs).toContain(command);
    }
  });
});

describe('the workflow release', () => {
  const { on, jobs } = workflow('release');
  const runsOf = (job: string) => jobs[job]?.steps.flatMap(({ run }) => (run === undefined ? [] : [run]));
  const signers = Object.entries(jobs).filter(([, { permissions }]) => permissions?.['id-token'] === 'write');

  it('runs for a tag of a version or a release candidate, after all tests', () => {
    expect(on).toEqual({ push: { tags: ['v[0-9]+.[0-9]+.[0-9]+', 'v[0-9]+.[0-9]+.[0-9]+-*'] } });
    expect(runsOf('test')?.slice(1)).toEqual(['npm ci', 'npm test', 'npm run test:long']);
    expect(jobs['image']?.needs).toBe('test');
  });

  it('packs the files once the digest of the image is known, which they contain', () => {
    expect(runsOf('build')).toEqual([
      'npm ci',
      'node scripts/release/name-repository.mjs "$GITHUB_SERVER_URL" "$GITHUB_REPOSITORY" "$IMAGE_DIGEST"',
      'bash scripts/release/pack.sh release',
    ]);
    const [step] = jobs['build']?.steps.filter(({ run }) => run?.includes('IMAGE_DIGEST')) ?? [];
    expect(step?.env).toEqual({ IMAGE_DIGEST: '${{ needs.image.outputs.digest }}' });
    expect(jobs['build']?.needs).toBe('image');
    expect(jobs['npm']?.needs).toBe('build');
  });

  it("signs only in jobs that don't check out or build anything", () => {
    expect(signers.map(([name]) => name)).toEqual(['npm', 'image-attestation']);
    for (const [name, { steps, permissions }] of signers) {
      expect(permissions?.['contents'], name).toBeUndefined();
      expect(steps.filter(({ uses }) => /^(?:actions\/checkout|docker\/build)/.test(uses ?? ''))).toEqual([]);
      for (const { run = '' } of steps)
        expect(run).not.toMatch(/npm (?:ci|install|run|test|exec)|\bnpx\b|\bnode\b/);
    }
  });

  it('publishes the tarball that was tested, without running its scripts', () => {
    const [check, publish] = runsOf('npm') ?? [];
    expect(check).toBe('sha256sum --check --strict SHA256SUMS');
    expect(publish).toMatch(
      /npm publish \.\/gameserver-exporter-\*\.tgz --provenance --access public --ignore-scripts/,
    );
  });

  it('publishes the first version with a token, which no other step can read', () => {
    const steps = Object.values(jobs).flatMap((job) => job.steps);
    const readers = steps.filter((step) => JSON.stringify(step).includes('secrets.NPM_TOKEN'));
    expect(readers).toHaveLength(1);
    expect(readers[0]?.env).toEqual({ NPM_TOKEN: '${{ secrets.NPM_TOKEN }}' });
    expect(readers[0]?.run).toMatch(/^if \[ -n "\$NPM_TOKEN" \]; then npm config set .*; fi\nnpm publish /m);
  });

  it('attests the package and the image', () => {
    const attested = signers.flatMap(([, { steps }]) =>
      steps
        .filter(({ uses }) => uses?.startsWith('actions/attest-build-provenance@'))
        .map((step) => step.with),
    );
    expect(attested).toEqual([
      { 'subject-checksums': 'SHA256SUMS' },
      {
        'subject-name': '${{ needs.image.outputs.name }}',
        'subject-digest': '${{ needs.image.outputs.digest }}',
        'push-to-registry': true,
      },
    ]);
  });

  it('runs the image before publishing it, built in the same way', () => {
    const steps = jobs['image']?.steps ?? [];
    const builds = steps.filter(({ uses }) => uses?.startsWith('docker/build-push-action@'));
    expect(builds.map((step) => [step.with?.['load'], step.with?.['push']])).toEqual([
      [true, undefined],
      [undefined, true],
    ]);
    expect(builds[0]?.with?.['build-args']).toBe(builds[1]?.with?.['build-args']);
    const test = steps.findIndex(({ run }) =>
      run?.includes('docker run --detach --read-only --name demo untested'),
    );
    expect(test).toBe(steps.indexOf(builds[0] as (typeof steps)[number]) + 1);
    expect(test).toBe(steps.indexOf(builds[1] as (typeof steps)[number]) - 1);
  });

  it('passes the image the values of its labels', () => {
    const build = jobs['image']?.steps.find(({ id }) => id === 'push');
    const given = z
      .string()
      .parse(build?.with?.['build-args'])
      .split('\n')
      .flatMap((line) => /^(\w+)=/.exec(line)?.[1] ?? []);
    const asked = [...readText('Dockerfile').matchAll(/^ARG (\w+)=$/gm)].flatMap(([, name = '']) => name);
    expect([...new Set(asked)].toSorted()).toEqual(given.toSorted());
  });
});
