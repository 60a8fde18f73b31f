import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readText } from '../../support/deploy-files.ts';

const { customManagers } = z
  .object({
    customManagers: z.array(
      z.object({
        managerFilePatterns: z.tuple([z.string().regex(/^\/.*\/$/)]),
        matchStrings: z.tuple([z.string()]),
      }),
    ),
  })
  .parse(JSON.parse(readText('renovate.json')));

/** Every file that contains the version of Node.js on which the exporter is built and tested, beside the oldest supported one. */
const NODE_VERSIONS: readonly (readonly [file: string, pattern: RegExp])[] = [
  ['Dockerfile', /^ARG NODE_IMAGE=docker\.io\/library\/node:([\d.]+)-/m],
  ['deploy/pterodactyl/egg-gameserver-exporter.json', /"container": "node:([\d.]+)-/],
  ['.ci/run', /^NODE_24=([\d.]+)$/m],
  ['.github/workflows/release.yml', /container: node:([\d.]+)-/],
  ['.github/workflows/test.yml', /container: node:([\d.]+)-/],
];

describe('Renovate', () => {
  it.each(['deploy/pterodactyl/egg-gameserver-exporter.json', '.ci/run'])(
    'finds the version in %s',
    (file) => {
      const managers = customManagers.filter(({ managerFilePatterns: [pattern] }) =>
        new RegExp(pattern.slice(1, -1)).test(file),
      );
      expect(managers).toHaveLength(1);
      const found = new RegExp(managers[0]?.matchStrings[0] ?? '').exec(readText(file));
      expect(found?.groups?.['currentValue']).toMatch(/^24\.\d+\.\d+/);
    },
  );
});

it('Renovate keeps the digests of images current, except of the image that is built from the checkout', () => {
  const { extends: presets, packageRules } = z
    .object({ extends: z.array(z.string()), packageRules: z.array(z.looseObject({})) })
    .parse(JSON.parse(readText('renovate.json')));
  // This preset pins and updates digests, and its manager for compose finds `compose.yaml` in any folder.
  expect(presets).toContain('config:best-practices');
  expect(packageRules).toContainEqual(
    expect.objectContaining({
      matchManagers: ['docker-compose'],
      matchPackageNames: ['gameserver-exporter'],
      enabled: false,
    }),
  );
});

it('Node.js is the same version in all files', () => {
  const versions = NODE_VERSIONS.map(
    ([file, pattern]) => pattern.exec(readText(file))?.[1] ?? `none in ${file}`,
  );
  expect(new Set(versions)).toEqual(new Set([versions[0]]));
  expect(versions[0]).toMatch(/^\d+\.\d+\.\d+$/);
});
