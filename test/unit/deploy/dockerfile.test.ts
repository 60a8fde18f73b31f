import { describe, expect, it } from 'vitest';
import { isInRepository, readManifest, readText } from '../../support/deploy-files.ts';

interface Instruction {
  readonly name: string;
  readonly value: string;
}

/** A Dockerfile's instructions, with continued lines joined. */
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
const starts = instructions.flatMap(({ name }, index) => (name === 'FROM' ? [index] : []));
const last = instructions.slice(starts.at(-1));
const valuesOf = (of: readonly Instruction[], name: string) =>
  of.filter((instruction) => instruction.name === name).map(({ value }) => value);
const jsonOf = (name: string) => valuesOf(last, name).map((value) => JSON.parse(value) as unknown);

/** The paths that COPY takes from the build context. */
const copied = valuesOf(instructions, 'COPY')
  .filter((value) => !value.startsWith('--from'))
  .flatMap((value) => value.split(' ').slice(0, -1));

describe('the Dockerfile', () => {
  it('uses an exact version of the slim Node.js 24 image, by digest', () => {
    expect(instructions[0]?.value).toMatch(
      /^NODE_IMAGE=docker\.io\/library\/node:24\.\d+\.\d+-[a-z]+-slim@sha256:[0-9a-f]{64}$/,
    );
    const bases = valuesOf(instructions, 'FROM').map((value) => value.replace(/^--platform=\S+ /, ''));
    expect(bases).toEqual(['${NODE_IMAGE} AS build', '${NODE_IMAGE}']);
  });

  it('installs from the lockfile without scripts, and copies only the program into the image', () => {
    const installs = valuesOf(instructions, 'RUN').filter((value) => value.includes('npm '));
    expect(installs).toHaveLength(2);
    expect(installs[0]).toMatch(/^npm ci --ignore-scripts /);
    expect(installs[1]).toMatch(/npm run build$/);
    expect(valuesOf(last, 'COPY').filter((value) => value.startsWith('--from'))).toEqual([
      '--from=build /build/dist dist',
    ]);
    expect(valuesOf(last, 'RUN')).toEqual([]);
  });

  it('runs as a fixed numeric user, as process 1, with the inspector signal disabled', () => {
    expect(valuesOf(last, 'USER')).toEqual(['65532:65532']);
    expect(jsonOf('ENTRYPOINT')).toEqual([
      ['node', '--disable-sigusr1', '/opt/gameserver-exporter/dist/cli.js'],
    ]);
    expect(jsonOf('CMD')).toEqual([['serve']]);
    expect(valuesOf(last, 'STOPSIGNAL')).toEqual(['SIGTERM']);
    expect(valuesOf(last, 'EXPOSE')).toEqual(['10317']);
  });

  it('checks health without a shell or curl', () => {
    const [check = ''] = valuesOf(last, 'HEALTHCHECK');
    const command = JSON.parse(check.slice(check.indexOf('['))) as unknown;
    expect(command).toEqual(['node', '/opt/gameserver-exporter/healthcheck.mjs']);
    expect(copied).toContain('scripts/healthcheck.mjs');
  });

  it('has the labels of the image specification', () => {
    const [labels = ''] = valuesOf(last, 'LABEL');
    for (const label of ['title', 'description', 'licenses', 'version', 'revision', 'created', 'source']) {
      expect(labels).toContain(`org.opencontainers.image.${label}=`);
    }
    expect(labels).toContain(`licenses="${readManifest().license}"`);
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
