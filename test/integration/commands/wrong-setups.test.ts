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
import { expectFile } from '../../support/generated.ts';

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

/** What a user has: the panel's address, the key, and further lines of the panel's entry. */
interface Setup {
  readonly url: string;
  readonly key: string;
  readonly lines?: readonly string[];
}

interface WrongSetup {
  readonly name: string;
  readonly arrange: () => Promise<Setup>;
  /** What the first line tells to do. */
  readonly fix: RegExp;
  /** `check` detects it too. */
  readonly seenByCheck?: true;
}

const of = ({ url, apiKey }: Simulator, ...lines: readonly string[]): Setup => ({ url, key: apiKey, lines });

/** A panel that responds to every call with the same error. */
async function refusing(fault: Omit<Parameters<Simulator['failRest']>[0] & { kind: 'refuse' }, 'kind'>) {
  const panel = await simulated();
  panel.failRest({ kind: 'refuse', ...fault });
  return of(panel);
}

const SETUPS: readonly WrongSetup[] = [
  {
    name: 'application-key',
    arrange: async () => ({ url: (await simulated()).url, key: 'ptla_TopSecretKeyOfAnAdministrator' }),
    fix: /this is an application API key\. Create a client API key \(ptlc_…, pacc_…, plcn_…\) in the account settings\./,
    seenByCheck: true,
  },
  {
    name: 'wrong-url-path',
    arrange: async () => {
      const { url, key } = of(await simulated());
      return { url: `${url}/panel`, key };
    },
    fix: /Set `url` to the panel's base address, without `\/api` or another path\./,
  },
  {
    name: 'address-of-a-page',
    arrange: async () => {
      const { url, key } = of(await simulated());
      return { url: `${url}/server/1a7ce997`, key };
    },
    fix: /expected the base URL of the panel, without \/server\/1a7ce997/,
    seenByCheck: true,
  },
  {
    name: 'plain-http',
    arrange: async () => ({ url: 'http://panel.example.com', key: 'ptlc_TopSecretKey' }),
    fix: /expected https, because http sends the API key in clear text \(`allow_insecure: true` permits it\)/,
    seenByCheck: true,
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

/** Replaces ports, times, the version, and the number of calls: it depends on which of two responses comes first. */
function settled(text: string): string {
  return (
    text
      .replaceAll(`${folder}/`, '')
      .replaceAll(authority.file, 'ca.pem')
      .replaceAll(/127\.0\.0\.1:\d{5}\b/g, '127.0.0.1:12345')
      // A server whose socket fails is polled soon.
      .replaceAll('polled, running; ', '')
      .replaceAll(/\d+ calls? in\s\d+\ss,\sversion\s[^)]+/g, '4 calls in 1 s, version 1.0.0')
  );
}

describe('the first line of check and doctor shows how to fix the setup', () => {
  it.each(SETUPS)('$name', async ({ name, arrange, fix, seenByCheck = false }) => {
    const { url, key, lines = [] } = await arrange();
    const file = join(folder, 'config.yaml');
    await writeFile(join(folder, 'panel-key'), `${key}\n`, { mode: 0o600 });
    const entry = [
      `url: ${url}`,
      'api_key_file: panel-key',
      ...lines,
      'servers: [{ id: 1a7ce997, name: survival }]',
    ];
    await writeFile(file, ['panels:', '  - name: main', ...entry.map((line) => `    ${line}`)].join('\n'));
    const checked = settled(await outcome(checkCommand(), ['--config', file]));
    const report = await outcome(doctorCommand(fastClock(SPEED)), ['--config', file]);
    const examined = settled(report);
    const [head = ''] = examined.split('\n');
    expect(head).toMatch(fix);
    expect(checked).toMatch(seenByCheck ? /exit code 1\n$/ : /exit code 0\n$/);
    if (seenByCheck) expect(checked).toBe(examined);
    else for (const line of report.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
    expect(checked + examined).not.toContain(key);
    expectFile(
      `test/fixtures/wrong-setups/${name}.txt`,
      `$ gameserver-exporter check --config config.yaml\n${checked}\n$ gameserver-exporter doctor --config config.yaml\n${examined}`,
    );
  });
});
