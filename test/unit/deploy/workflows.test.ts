import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readText, readYaml } from '../../support/deploy-files.ts';

const stepSchema = z
  .strictObject({
    id: z.string().optional(),
    name: z.string().optional(),
    // By major version.
    uses: z
      .string()
      .regex(/^[\w-]+\/[\w-]+@v\d+$/)
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
  // Whatever a job needs beyond it asks for itself.
  permissions: z.strictObject({ contents: z.literal('read') }),
  concurrency: z.object({ group: z.string() }),
  jobs: z.record(
    z.string(),
    z.strictObject({
      if: z.string().optional(),
      needs: z.string().optional(),
      'runs-on': z.string().regex(/^ubuntu-\d+\.\d+$/),
      'timeout-minutes': z.int(),
      strategy: z
        .strictObject({ 'fail-fast': z.boolean(), matrix: z.record(z.string(), z.array(z.string())) })
        .optional(),
      container: z.string().optional(),
      permissions: z.record(z.string(), access).optional(),
      steps: z.array(stepSchema),
    }),
  ),
});

const workflow = (name: string) => workflowSchema.parse(readYaml(`.github/workflows/${name}.yml`)[0]);
const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readText('package.json')));

describe.each(['test', 'release'])('the workflow %s', (name) => {
  const { jobs } = workflow(name);
  const steps = Object.values(jobs).flatMap((job) => job.steps);

  it('runs scripts that there are', () => {
    for (const { run = '' } of steps) {
      for (const [, script = ''] of run.matchAll(/npm (?:run ([\w:]+))/g)) {
        expect(Object.keys(scripts)).toContain(script);
      }
    }
  });

  it('keeps no credentials in the checkout', () => {
    const checkouts = steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'));
    expect(checkouts).toHaveLength(Object.keys(jobs).length);
    for (const checkout of checkouts) expect(checkout.with).toEqual({ 'persist-credentials': false });
  });

  it('puts no text of strangers into a shell', () => {
    for (const { run = '' } of steps) expect(run).not.toContain('${{');
  });
});

describe('the workflow test', () => {
  const { on, jobs } = workflow('test');

  it('runs all tests on both versions of Node.js for every change', () => {
    expect(Object.keys(on)).toEqual(['push', 'pull_request', 'schedule']);
    expect(jobs['test']?.strategy?.matrix).toEqual({ node: ['20', '24'] });
    expect(jobs['test']?.steps.map(({ run }) => run)).toEqual([undefined, 'npm ci', 'npm test']);
  });

  it('runs what takes long at night', () => {
    expect(jobs['nightly']?.if).toBe("github.event_name == 'schedule'");
    const runs = jobs['nightly']?.steps.flatMap(({ run = '' }) => [run]).join('\n');
    expect(runs).toContain('npm run test:faults');
    expect(runs).toContain('npm run test:image');
  });
});

describe('the workflow release', () => {
  const { on, jobs } = workflow('release');

  it('runs for a tag that names a version, after all tests', () => {
    expect(on).toEqual({ push: { tags: ['v[0-9]+.[0-9]+.[0-9]+'] } });
    const runs = jobs['npm']?.steps.flatMap(({ run }) => (run === undefined ? [] : [run]));
    expect(runs?.slice(1)).toEqual(['npm ci', 'npm test', 'npm publish --provenance --access public']);
    expect(jobs['image']?.needs).toBe('npm');
  });

  it('may sign and push packages, each job what it needs', () => {
    expect(jobs['npm']?.permissions).toEqual({ contents: 'read', 'id-token': 'write' });
    expect(jobs['image']?.permissions).toEqual({ contents: 'read', packages: 'write' });
  });

  it('gives the image what its labels tell', () => {
    const build = jobs['image']?.steps.find(({ uses }) => uses?.startsWith('docker/build-push-action@'));
    const given = z
      .string()
      .parse(build?.with?.['build-args'])
      .split('\n')
      .flatMap((line) => /^(\w+)=/.exec(line)?.[1] ?? []);
    const asked = [...readText('Dockerfile').matchAll(/^ARG (\w+)=$/gm)].flatMap(([, name = '']) => name);
    expect([...new Set(asked)].toSorted()).toEqual(given.toSorted());
  });
});
