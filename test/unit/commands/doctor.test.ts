import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { doctorCommand } from '../../../src/commands/doctor.ts';
import { ManualClock } from '../../support/manual-clock.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'doctor-'));
});
afterEach(async () => {
  process.exitCode = undefined;
  await rm(folder, { recursive: true });
});

async function doctor(text: string, ...flags: readonly string[]) {
  const file = join(folder, 'config.yaml');
  await writeFile(file, text, { mode: 0o600 });
  let out = '';
  let err = '';
  const command = doctorCommand(new ManualClock()).configureOutput({
    writeOut: (written) => (out += written),
    writeErr: (written) => (err += written),
  });
  const run = command.parseAsync([...flags, file], { from: 'user' });
  return { run, out: () => out, err: () => err.replaceAll(folder, '') };
}

const VALID = `panels:
  - name: main
    url: https://panel.example.com
    api_key: ptlc_a_key_of_this_test_that_is_long_enough
    servers: [{ id: 1a7ce997, name: survival }]
`;

describe('an invalid configuration', () => {
  it('is reported for a person, without a report on standard output', async () => {
    const { run, out, err } = await doctor('panels: 1\n');
    await run;
    expect([out(), process.exitCode]).toEqual(['', 1]);
    expect(err()).toMatch(/^\/config\.yaml:1:9: panels: expected /);
  });

  it('is also reported as JSON for a program', async () => {
    const { run, out } = await doctor('panels: 1\n', '--json');
    await run;
    expect(JSON.parse(out())).toMatchObject({ ok: false });
    expect(process.exitCode).toBe(1);
  });
});

it.each([
  ['--panel', 'other'],
  ['--server', 'other'],
])('%s %s, which is not configured, is a failure before anything is connected', async (flag, name) => {
  const { run, out } = await doctor(VALID, flag, name);
  await expect(run).rejects.toThrow(name);
  expect(out()).toBe('');
});
