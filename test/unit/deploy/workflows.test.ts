import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readText, readYaml } from '../../support/deploy-files.ts';

const workflowSchema = z.looseObject({
  // Jobs that need more permissions request them individually.
  permissions: z.strictObject({ contents: z.literal('read') }),
  jobs: z.record(
    z.string(),
    z.looseObject({
      'timeout-minutes': z.int(),
      permissions: z.record(z.string(), z.string()).optional(),
      steps: z.array(
        z.looseObject({
          id: z.string().optional(),
          uses: z.string().optional(),
          run: z.string().optional(),
          with: z.record(z.string(), z.unknown()).optional(),
          env: z.record(z.string(), z.string()).optional(),
        }),
      ),
    }),
  ),
});

const workflow = (name: string) => workflowSchema.parse(readYaml(`.github/workflows/${name}.yml`)[0]);

const WORKFLOWS = ['codeql', 'release', 'scorecard', 'test'];

it('every workflow is covered', () => {
  expect(readdirSync(new URL('../../../.github/workflows', import.meta.url)).toSorted()).toEqual(
    WORKFLOWS.map((name) => `${name}.yml`),
  );
});

describe.each(WORKFLOWS)('the workflow %s', (name) => {
  const { jobs } = workflow(name);
  const steps = Object.values(jobs).flatMap((job) => job.steps);

  // By commit, because a tag can be moved to other code.
  it('uses actions by commit, with their version beside it', () => {
    const lines = readText(`.github/workflows/${name}.yml`).match(/^.*\buses:.*$/gm) ?? [];
    expect(lines).toHaveLength(steps.filter(({ uses }) => uses !== undefined).length);
    for (const line of lines) expect(line).toMatch(/@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  it('does not store credentials in the checkout', () => {
    const checkouts = steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'));
    for (const checkout of checkouts) expect(checkout.with).toEqual({ 'persist-credentials': false });
  });

  it('puts no untrusted text into a shell', () => {
    for (const { run = '' } of steps) expect(run).not.toContain('${{');
  });
});

describe('the workflow release', () => {
  const { jobs } = workflow('release');
  const signers = Object.entries(jobs).filter(([, { permissions }]) => permissions?.['id-token'] === 'write');

  it("signs only in jobs that don't check out or build anything", () => {
    expect(signers.map(([name]) => name)).toEqual(['npm', 'image-attestation']);
    for (const [name, { steps, permissions }] of signers) {
      expect(permissions?.['contents'], name).toBeUndefined();
      expect(steps.filter(({ uses }) => /^(?:actions\/checkout|docker\/build)/.test(uses ?? ''))).toEqual([]);
      for (const { run = '' } of steps)
        expect(run).not.toMatch(/npm (?:ci|install|run|test|exec)|\bnpx\b|\bnode\b/);
    }
  });

  it('publishes the first version with a token, which no other step can read', () => {
    const steps = Object.values(jobs).flatMap((job) => job.steps);
    const readers = steps.filter((step) => JSON.stringify(step).includes('secrets.NPM_TOKEN'));
    expect(readers).toHaveLength(1);
    expect(readers[0]?.env).toEqual({ NPM_TOKEN: '${{ secrets.NPM_TOKEN }}' });
    expect(readers[0]?.run).toMatch(/^if \[ -n "\$NPM_TOKEN" \]; then npm config set .*; fi\nnpm publish /m);
  });
});
