import { describe, expect, it } from 'vitest';
import { isInRepository, readText } from '../../support/deploy-files.ts';

interface Instruction {
  readonly name: string;
  readonly value: string;
}

/** The instructions of a Dockerfile, with continued lines joined. */
function instructionsOf(text: string): readonly Instruction[] {
  const lines = text
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('#'))
    .join('\n')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n');
  return lines
    .filter((line) => line.trim() !== '')
    .map((line) => ({ name: line.slice(0, line.indexOf(' ')), value: line.slice(line.indexOf(' ') + 1) }));
}

const instructions = instructionsOf(readText('Dockerfile'));
const valuesOf = (name: string) =>
  instructions.filter((instruction) => instruction.name === name).map(({ value }) => value);

/** The paths that COPY reads from the build context. */
const copied = valuesOf('COPY')
  .filter((value) => !value.startsWith('--from'))
  .flatMap((value) => value.split(' ').slice(0, -1));

describe('the Dockerfile', () => {
  it('uses an exact version of the slim Node.js 26 image, by digest', () => {
    expect(instructions[0]?.value).toMatch(
      /^NODE_IMAGE=docker\.io\/library\/node:26\.\d+\.\d+-[a-z]+-slim@sha256:[0-9a-f]{64}$/,
    );
    const bases = valuesOf('FROM').map((value) => value.replace(/^--platform=\S+ /, ''));
    expect(bases).toEqual(['${NODE_IMAGE} AS build', '${NODE_IMAGE}']);
  });

  it('installs from the lockfile, without scripts of packages', () => {
    expect(valuesOf('RUN').find((value) => value.includes('npm '))).toMatch(/^npm ci --ignore-scripts /);
  });

  it('runs the program by its name, which is on the path for docker exec', () => {
    const link = valuesOf('RUN').find((value) => value.startsWith('ln -s '));
    const [, , target, name] = link?.split(' ') ?? [];
    expect(target).toBe('/opt/gameserver-exporter/dist/cli.js');
    expect(JSON.parse(valuesOf('ENTRYPOINT')[0] ?? '')).toEqual(['node', '--disable-sigusr1', name]);
    expect(valuesOf('RUN')).toContainEqual(expect.stringContaining('npm run build && chmod 755 dist/cli.js'));
  });

  it('gets only the files that it copies from the build context', () => {
    const allowed = readText('.dockerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    expect(allowed[0]).toBe('*');
    expect(
      allowed
        .slice(1)
        .map((line) => line.slice(1))
        .toSorted(),
    ).toEqual([...new Set(copied)].toSorted());
    for (const path of copied) expect(isInRepository(path), path).toBe(true);
  });
});

/**
 * All places that contain the version of Node.js with which the exporter is built and tested,
 * except for the oldest supported version.
 */
const NODE_VERSIONS: readonly (readonly [file: string, pattern: RegExp])[] = [
  ['Dockerfile', /^ARG NODE_IMAGE=docker\.io\/library\/node:([\d.]+)-/gm],
  ['deploy/pterodactyl/egg-gameserver-exporter.json', /"container": "node:([\d.]+)-/g],
  ['.ci/run', /^NODE_LTS=([\d.]+)$/gm],
  ['.github/workflows/release.yml', /container: node:([\d.]+)-/g],
  ['.github/workflows/release.yml', /node-version: '([\d.]+)'/g],
  ['.github/workflows/test.yml', /container: node:([\d.]+)-/g],
  ['.github/workflows/test.yml', /node-version: '([\d.]+)'/g],
];

it('Node.js is the same version everywhere', () => {
  const versions = NODE_VERSIONS.map(([file, pattern]) => [
    ...new Set([...readText(file).matchAll(pattern)].map(([, version]) => version)),
  ]);
  const [first] = versions;
  expect(first).toHaveLength(1);
  expect(versions).toEqual(NODE_VERSIONS.map(() => first));
});
