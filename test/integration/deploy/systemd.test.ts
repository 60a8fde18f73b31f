import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readText } from '../../support/deploy-files.ts';
import { hasProgram } from '../../support/has-program.ts';

const run = promisify(execFile);
const UNIT = 'deploy/systemd/gameserver-exporter.service';

const hasSystemd = hasProgram('systemd-analyze');

/**
 * The maximum exposure on systemd's scale from 0 to 10. The unit has 1.1. A value above this limit
 * means that a restriction is missing.
 */
const HIGHEST_EXPOSURE = 1.5;

const text = readText(UNIT);
const settings = text
  .split('\n')
  .filter((line) => /^\w+=/.test(line))
  .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const);
const valuesOf = (name: string) => settings.flatMap(([key, value]) => (key === name ? [value] : []));

/** A copy of the unit for systemd's tools, with a program that exists on this machine. */
async function installed(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'unit-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'gameserver-exporter.service');
  await writeFile(file, text.replaceAll('/usr/local/bin/gameserver-exporter', '/bin/true'));
  return file;
}

describe('the systemd unit', () => {
  it('runs the program, reloads it by HUP, and leaves it time to stop and enough sockets', () => {
    expect(valuesOf('Type')).toEqual(['exec']);
    expect(valuesOf('ExecStart')[0]).toMatch(
      /^\/usr\/local\/bin\/gameserver-exporter serve --config \/etc\/gameserver-exporter\/config\.yaml /,
    );
    expect(valuesOf('ExecReload')).toEqual([`/bin/sh -c 'kill -HUP "$$MAINPID"'`]);
    expect(Number(valuesOf('TimeoutStopSec')[0])).toBeGreaterThan(5);
    expect(Number(valuesOf('LimitNOFILE')[0])).toBeGreaterThanOrEqual(65_536);
    expect(valuesOf('TasksMax')).toHaveLength(1);
    expect(valuesOf('WantedBy')).toEqual(['multi-user.target']);
  });

  it('keeps its state in a folder of its own', () => {
    expect(valuesOf('StateDirectory')).toEqual(['gameserver-exporter']);
    expect(valuesOf('ExecStart')[0]).toContain(' --storage.path /var/lib/gameserver-exporter ');
  });

  it('passes the key as a credential, as the installation guide describes', () => {
    expect(valuesOf('LoadCredential')).toEqual(['panel-key:/etc/gameserver-exporter/panel-key']);
    const guide = readText('docs/install.md');
    expect(guide).toContain('api_key_file: ${CREDENTIALS_DIRECTORY}/panel-key');
    expect(guide).toContain('/etc/gameserver-exporter/panel-key');
    expect(guide).toContain(UNIT);
  });

  it("lets V8 write executable memory, without which Node.js can't run", () => {
    expect(valuesOf('MemoryDenyWriteExecute')).toEqual([]);
  });

  it.skipIf(!hasSystemd)('is valid for systemd', async () => {
    const { stdout, stderr } = await run('systemd-analyze', ['verify', await installed()]);
    // The tool also reports problems of other units on this machine.
    const ours = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('gameserver-exporter'));
    expect(ours).toEqual([]);
  });

  it.skipIf(!hasSystemd)('has a low exposure, according to systemd', async () => {
    const file = await installed();
    const { stdout } = await run('systemd-analyze', ['security', '--offline=yes', '--no-pager', file]);
    const [, exposure = ''] = /Overall exposure level for \S+: ([\d.]+)/.exec(stdout) ?? [];
    expect(Number(exposure)).toBeGreaterThan(0);
    expect(Number(exposure)).toBeLessThanOrEqual(HIGHEST_EXPOSURE);
  });
});
