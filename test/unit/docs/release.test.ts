import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readManifest, readText } from '../../support/deploy-files.ts';
import { documents } from '../../support/documents.ts';

const { version } = readManifest();

/** Matches the package, its tarball, the deployment files and the image, each with a version. */
const NAMED = /(?:\bgameserver-exporter(?:-deploy)?[-@:]|\bnewTag: )(\d+\.\d+\.\d+(?:-[a-z]+(?:\.\d+)*)?)/g;

const deployed = readdirSync('deploy', { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.(?:ya?ml|json)$/.test(name))
  .map((name) => `deploy/${name}`);

const [, ...sections] = readText('CHANGELOG.md').split(/^## /m);
const titleOf = (section: string) => section.split('\n', 1)[0] ?? '';
const releases = sections.filter((section) => titleOf(section) !== 'Unreleased');

describe('the version', () => {
  it.each([...deployed, ...documents().map(({ path }) => path)])('in %s matches the package', (path) => {
    const named = [...readText(path).matchAll(NAMED)].map(([, found]) => found);
    expect(named.filter((found) => found !== version)).toEqual([]);
  });

  it('in the lockfile matches the package', () => {
    const lock = JSON.parse(readText('package-lock.json')) as {
      version: string;
      packages: Record<string, { version: string }>;
    };
    expect([lock.version, lock.packages['']?.version]).toEqual([version, version]);
  });
});

describe('the changelog', () => {
  it('has the version of the package as its newest release', () => {
    expect(titleOf(releases[0] ?? '').split(' ')[0]).toBe(version);
  });

  it('has a date for each release, and unreleased changes only at the top', () => {
    for (const section of releases)
      expect(titleOf(section)).toMatch(/^\d+\.\d+\.\d+(?:-[\w.]+)? \/ \d{4}-\d\d-\d\d$/);
    expect(sections.findLastIndex((section) => titleOf(section) === 'Unreleased')).toBeLessThanOrEqual(0);
  });
});
