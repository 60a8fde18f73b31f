import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { checkCommand } from '../../../src/commands/check.ts';
import { doctorCommand } from '../../../src/commands/doctor.ts';
import type { Simulator, SimulatorOptions } from '../../../src/simulator/api.ts';
import { startSimulator } from '../../../src/simulator/simulator.ts';
import { type Authority, createAuthority } from '../../support/certificates.ts';
import { fastClock } from '../../support/exporter.ts';

/** It takes 15 s until a panel as a whole is known to be unusable. */
const SPEED = 20;

const HERE = 'IP:127.0.0.1';
const UUID = '1a7ce997-259b-452e-8b4e-cecc464142ca';
const closers: (() => Promise<void>)[] = [];
let authority: Authority;
let folder: string;

beforeAll(async () => {
  authority = await createAuthority();
});

afterAll(() => authority.end());

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'setup-'));
  for (const name of ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY', 'no_proxy', 'NO_PROXY']) {
    vi.stubEnv(name, '');
  }
});

afterEach(async () => {
  vi.unstubAllEnvs();
  process.exitCode = undefined;
  for (const close of closers.splice(0).toReversed()) await close();
  await rm(folder, { recursive: true });
});

async function simulated(options: SimulatorOptions = {}): Promise<Simulator> {
  const servers = [{ name: 'survival', uuid: UUID }];
  const panel = await startSimulator({
    servers,
    rateLimitPerMinute: 6_000,
    clock: fastClock(SPEED),
    ...options,
  });
  closers.push(() => panel.stop());
  return panel;
}

/** What a user has: the panel's address and the key. */
interface Setup {
  readonly url: string;
  readonly key: string;
}

interface WrongSetup {
  readonly name: string;
  readonly arrange: () => Promise<Setup>;
  /** What the first line tells to do. */
  readonly fix: RegExp;
}

const of = ({ url, apiKey }: Simulator): Setup => ({ url, key: apiKey });

/** A panel that responds to every call with the same error. */
async function refusing(fault: Omit<Parameters<Simulator['failRest']>[0] & { kind: 'refuse' }, 'kind'>) {
  const panel = await simulated();
  panel.failRest({ kind: 'refuse', ...fault });
  return of(panel);
}

const SETUPS: readonly WrongSetup[] = [
  {
    name: 'wrong-url-path',
    arrange: async () => {
      const { url, key } = of(await simulated());
      return { url: `${url}/panel`, key };
    },
    fix: /Set `url` to the panel's base address, without `\/api` or another path\./,
  },
  {
    name: 'https-for-http',
    arrange: async () => {
      const { url, key } = of(await simulated());
      return { url: url.replace('http:', 'https:'), key };
    },
    fix: /Use `http:\/\/` in `url`, or the port of the panel's https\./,
  },
  {
    name: 'http-for-https',
    arrange: async () => {
      const { url, key } = of(await simulated({ tls: await authority.issue(HERE) }));
      return { url: url.replace('https:', 'http:'), key };
    },
    fix: /Use `https:\/\/` in `url`\./,
  },
  {
    name: 'calagopus',
    arrange: () =>
      refusing({
        status: 404,
        body: '{"errors":["route not found"]}',
        headers: { 'content-type': 'application/json' },
      }),
    fix: /Remove this Calagopus panel from the configuration\./,
  },
];

async function outcome(command: Command, args: readonly string[]): Promise<string> {
  const texts = { out: '', err: '' };
  command.configureOutput({
    writeOut: (text) => (texts.out += text),
    writeErr: (text) => (texts.err += text),
  });
  await command.parseAsync(args, { from: 'user' });
  // The report goes to the standard output, errors of the configuration to the standard error.
  return `${texts.out === '' ? texts.err : texts.out}exit code ${process.exitCode}\n`;
}

describe('the first line of doctor shows how to fix what check accepts', () => {
  it.each(SETUPS)('$name', async ({ arrange, fix }) => {
    const { url, key } = await arrange();
    const file = join(folder, 'config.yaml');
    await writeFile(join(folder, 'panel-key'), `${key}\n`, { mode: 0o600 });
    const entry = [`url: ${url}`, 'api_key_file: panel-key', 'servers: [{ id: 1a7ce997, name: survival }]'];
    await writeFile(file, ['panels:', '  - name: main', ...entry.map((line) => `    ${line}`)].join('\n'));
    const checked = await outcome(checkCommand(), ['--config', file]);
    expect(checked).toMatch(/exit code 0\n$/);
    const report = await outcome(doctorCommand(fastClock(SPEED)), ['--config', file]);
    const [head = ''] = report.split('\n');
    expect(head).toMatch(fix);
    for (const line of report.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
    expect(checked + report).not.toContain(key);
  });
});
