import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { stringify } from 'yaml';
import { parseConfig } from '../../../src/config/parse.ts';
import { Secret } from '../../../src/text/redaction.ts';
import { formatIssues } from '../../../src/yaml/issues.ts';
import { mostSimilar } from '../../../src/yaml/most-similar.ts';
import type { SchemaNode } from '../../../src/yaml/setting-types.ts';
import { configJsonSchema } from '../../support/config-schema.ts';
import { cpuMs } from '../../support/cpu-time.ts';
import { fuzzRuns } from '../../support/fuzz.ts';

const EXAMPLE = readFileSync('config.example.yaml', 'utf8');
const UNCOMMENTED = EXAMPLE.replaceAll(/^( *)#(?=[a-z-])/gm, '$1');
const ENV = { PANEL_API_KEY: 'from-the-environment' };

const SMALL = `panels:
  - name: main
    url: https://panel.example.com
    api_key: TopSecret1
    servers:
      - id: 1a7ce997
`;

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

function parse(text: string, env: Record<string, string> = ENV) {
  return parseConfig(text, 'c.yaml', env);
}

/** The small configuration, with these lines instead of its only server. */
function withServers(...lines: readonly string[]): string {
  return SMALL.replace(/( +)- id.*\n/, (_, indent: string) =>
    lines.map((line) => `${indent}${line}\n`).join(''),
  );
}

describe('a file with many problems', () => {
  const servers = (line: (index: number) => string) =>
    withServers(...Array.from({ length: 200 }, (_, index) => line(index)));
  const keys = (count: number, line: (index: number) => string) =>
    SMALL + Array.from({ length: count }, (_, index) => `${line(index)}\n`).join('');

  test.each([
    ['unknown keys', keys(200, (index) => `unknown_${index}: 1`)],
    ['misspelled keys', keys(200, (index) => `        nam${index}: 1`)],
    ['unknown keys of servers', servers((index) => `- { id: ${1e7 + index}, foo: 1 }`)],
    ['invalid values', servers(() => '- { id: "?" }')],
    ['equal ids', servers(() => '- { id: 1a7ce997 }')],
    ['equal keys', keys(200, () => 'log: {}')],
    ['variables that are not set', keys(200, (index) => `unknown_${index}: \${UNSET_${index}}`)],
  ])('shows the first 100, and that there are more: %s', async (_, text) => {
    const { issues } = await parse(text);
    expect(issues).toHaveLength(101);
    const [first] = issues;
    expect(first && formatIssues([first])).toBe(
      'c.yaml:1:1: more than 100 problems, showing the first ones found',
    );
  });

  test('shows them all if there are 100', async () => {
    expect((await parse(keys(100, (index) => `unknown_${index}: 1`))).issues).toHaveLength(100);
  });

  test.each([
    ['unknown', keys(40_000, (index) => `unknown_${index}: 1`)],
    ['misspelled', keys(40_000, (index) => `        nam${index}: 1`)],
  ])('is read in seconds: 40,000 %s keys', async (_, text) => {
    const before = cpuMs();
    await parse(text);
    expect(cpuMs() - before).toBeLessThan(4_000);
  });
});

describe('the example', () => {
  test('is valid as shipped', async () => {
    expect(formatIssues((await parse(EXAMPLE)).issues)).toBe('');
    expect((await parse(EXAMPLE)).config?.panels).toHaveLength(1);
  });

  test('is valid with every setting uncommented, and differs only in settings without a default', async () => {
    const { config, issues } = await parse(UNCOMMENTED);
    expect(formatIssues(issues)).toBe('');
    expect(config?.panels).toHaveLength(2);
    expect(config?.log).toEqual((await parse(EXAMPLE)).config?.log);
    const [panel] = (await parse(EXAMPLE)).config?.panels ?? [];
    const defaults = Object.entries(panel ?? {}).filter(([, value]) => value !== undefined);
    // Commented settings contain their defaults, so uncommenting one changes nothing.
    expect(config?.panels[0]).toMatchObject({
      ...Object.fromEntries(defaults),
      servers: [{ id: '1a7ce997-259b-452e-8b4e-cecc464142ca', limits: { cpuCores: 1.5 } }, {}],
    });
  });

  test('contains every setting', () => {
    const missing = settingsOf(configJsonSchema()).filter(
      (key) => !new RegExp(`\\b${key}:`).test(UNCOMMENTED),
    );
    expect(missing).toEqual([]);
  });
});

function settingsOf(schema: SchemaNode): readonly string[] {
  const inner = Object.entries(schema.properties ?? {});
  return [
    ...(schema.items === undefined ? [] : settingsOf(schema.items)),
    ...inner.map(([key]) => key),
    ...inner.flatMap(([, value]) => settingsOf(value)),
  ];
}

describe('strings that YAML reads as another type', () => {
  test.each(['12345678', '00001234', '12345e67', '1234567e', '1e100000'.slice(0, 8)])(
    'an id of %s is preserved',
    async (id) => {
      expect((await parse(withServers(`- id: ${id}`))).config?.panels[0]?.servers[0]?.id).toBe(id);
    },
  );

  test.each(['0123', '1e100000', '1.10', 'true', 'null', '0x1F', '2026-11-01'])(
    'a name of %s is preserved',
    async (name) => {
      const { config } = await parse(
        withServers('- id: 1a7ce997', `  name: ${name}`, `  labels: { version: ${name} }`),
      );
      expect(config?.panels[0]?.servers[0]).toMatchObject({ name, labels: { version: name } });
    },
  );
});

test('variables work in every kind of value', async () => {
  const text = `${SMALL.replace('TopSecret1', '${KEY}')}log: { level: '\${LEVEL}' }\n`.replace(
    '    servers',
    '    allow_insecure: ${YES}\n    poll_interval: ${N}s\n    requests_per_minute: ${N}\n    servers',
  );
  const { config, issues } = await parse(text, { KEY: 'k', LEVEL: 'warn', YES: 'true', N: '45' });
  expect(formatIssues(issues)).toBe('');
  expect(config).toMatchObject({
    panels: [
      {
        apiKey: new Secret('k'),
        apiKeySource: 'variable',
        allowInsecure: true,
        pollIntervalMs: 45_000,
        requestsPerMinute: 45,
      },
    ],
    log: { level: 'warn' },
  });
});

test("aliases share an anchor's value", async () => {
  const { config } = await parse(
    withServers(
      '- id: 1a7ce997',
      '  labels: &common { game: minecraft }',
      '- id: d3aac109',
      '  labels: *common',
    ),
  );
  expect(config?.panels[0]?.servers.map(({ labels }) => labels)).toEqual([
    { game: 'minecraft' },
    { game: 'minecraft' },
  ]);
});

test('the value of a variable is not quoted, not even behind an alias', async () => {
  const { issues } = await parse(
    withServers(
      '- id: 1a7ce997',
      '  labels: &common { game: &name "${PANEL_API_KEY}" }',
      '  mode: *name',
      '- id: d3aac109',
      '  labels: *common',
      '  expect: ${PANEL_API_KEY}',
    ),
  );
  expect(formatIssues(issues)).toBe(
    `c.yaml:8:15: panels[0].servers[0].mode: expected one of auto, socket, poll, got "\${PANEL_API_KEY}"
c.yaml:11:17: panels[0].servers[1].expect: expected one of running, any, auto, got "\${PANEL_API_KEY}"`,
  );
});

test('a panel can be listed twice with two keys, and a server on two panels', async () => {
  const second = SMALL.replace('panels:\n', '').replace('main', 'second');
  expect(formatIssues((await parse(SMALL + second)).issues)).toBe('');
});

describe('whatever the file contains', () => {
  test.each(['LOG_TOKENS', 'LOG_STREAM'])(
    'no debugging switch of the YAML library prints it: %s',
    async (name) => {
      vi.stubEnv(name, '1');
      const printed = [vi.spyOn(console, 'log'), vi.spyOn(console, 'dir')].map((print) =>
        print.mockReturnValue(),
      );
      expect((await parse(SMALL)).issues).toEqual([]);
      expect(printed.map(({ mock }) => mock.calls)).toEqual([[], []]);
    },
  );

  const anyText = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom(...Array.from('{}[]:-,#&*!|>\'"%@`?$\n\t ab0~')) }),
    fc.json().map((json) => `panels: ${json}`),
    fc
      .anything({ maxDepth: 4 })
      .map((value) => stringifyOrEmpty({ panels: [{ servers: [value], tls_config: value }] })),
  );

  const anyTextRuns = fuzzRuns(200);

  test('parsing gives a result or an issue, and never throws', { timeout: anyTextRuns.timeout }, async () => {
    await fc.assert(
      fc.asyncProperty(anyText, async (text) => {
        const { config, issues } = await parse(text);
        expect(config === undefined).toBe(issues.length > 0);
      }),
      { numRuns: anyTextRuns.numRuns },
    );
  });

  test.each([
    ['api_key', 'apikey', '4:5: panels[0].apikey: unknown key, did you mean api_key?'],
    ['api_key', 'apiKey', '4:5: panels[0]: unknown key, did you mean api_key?'],
    ['api_key', 'api_key1', '4:5: panels[0]: unknown key, did you mean api_key?'],
    ['api_key', 'api-key', '4:5: panels[0]: unknown key, did you mean api_key?'],
    ['api_key', `api_key${'_'.repeat(18)}`, '4:5: panels[0]: unknown key, did you mean api_key?'],
    ['id', 'idd', '6:9: panels[0].servers[0].idd: unknown key, did you mean id?'],
    ['servers', 'discovr', '5:5: panels[0].discovr: unknown key, did you mean discover?'],
    ['servers', 'severs', '5:5: panels[0].severs: unknown key, did you mean servers?'],
  ])('nothing follows from a misspelled key, named only like a setting: %s, %s', async (key, typo, line) => {
    const { issues } = await parse(SMALL.replace(`${key}:`, `${typo}:`));
    expect(formatIssues(issues)).toBe(`c.yaml:${line}`);
  });

  const keyRuns = fuzzRuns(300);

  test('no unknown key with digits or capitals, that is long, or unlike every setting is printed', {
    timeout: keyRuns.timeout,
  }, async () => {
    const settings = settingsOf(configJsonSchema());
    const letter = fc.constantFrom(...Array.from('abcdefghijklmnopqrstuvwxyz_'));
    const secretLike = fc.oneof(
      fc
        .string({ minLength: 8, unit: fc.constantFrom(...Array.from('abcXYZ019_-')) })
        .filter((key) => /[A-Z0-9]/.test(key)),
      fc.string({ minLength: 25, maxLength: 80, unit: letter }),
      fc
        .string({ minLength: 8, maxLength: 24, unit: letter })
        .filter((key) => mostSimilar(key, settings) === undefined),
      fc
        .tuple(fc.constantFrom(...settings), fc.constantFrom(...Array.from('AZ09')), fc.nat(30))
        .map(([key, inserted, at]) => key.slice(0, at) + inserted + key.slice(at)),
    );
    const places = [
      (key: string) => SMALL.replace('    servers', `    "${key}": x\n    servers`),
      (key: string) => SMALL.replace('- id: 1a7ce997', `- id: 1a7ce997\n        limits: { "${key}": x }`),
      (key: string) => `"${key}": { a: b }\n${SMALL}`,
      (key: string) => SMALL.replace('api_key: TopSecret1', `api_key:\n    "${key}": `),
      (key: string) => SMALL.replace('    servers', `    "${key}": \${NOT_SET}\n    servers`),
      (key: string) => SMALL.replace('- id: 1a7ce997', `- id: 1a7ce997\n        labels: { "${key} x": a }`),
    ];
    await fc.assert(
      fc.asyncProperty(secretLike, fc.constantFrom(...places), async (key, place) => {
        // Not the names of built-in properties, such as __proto__, which aren't secret.
        fc.pre(!(key in {}));
        const { issues } = await parse(place(key));
        expect(issues.length).toBeGreaterThan(0);
        expect(formatIssues(issues)).not.toContain(key);
        expect(issues.every(({ line = 0, column = 0 }) => line > 0 && column > 0)).toBe(true);
      }),
      { numRuns: keyRuns.numRuns },
    );
  });

  test('a secret is never quoted, not even as the value of another setting', async () => {
    const key = 'q7Rk2mXw9Tz4Lc8Vb1Np6Hs3Jd5Fg0YaQeUoIiWrTyKxMnEc';
    const text = SMALL.replace('TopSecret1', key).replace(
      '    servers',
      `    poll_interval: ${key}\n    origin: "${'x'.repeat(110)}${key}"\n    servers`,
    );
    const { issues } = await parse(text);
    expect(issues.map(({ path }) => path)).toEqual(['panels[0].poll_interval', 'panels[0].origin']);
    expect(formatIssues(issues)).not.toContain(key.slice(0, 10));
    expect(issues[0]?.message).toContain('got "<secret>"');
  });

  const slipRuns = fuzzRuns(400);

  test('no issue contains the key, wherever the file has a typo', { timeout: slipRuns.timeout }, async () => {
    const key = 'TopSecret1';
    const start = SMALL.indexOf(key);
    const outside = fc.nat(SMALL.length).filter((at) => at <= start || at >= start + key.length);
    await fc.assert(
      fc.asyncProperty(
        outside,
        fc.constantFrom('', ...Array.from('x:#-\'"[]{}!&*|>$ \n\t')),
        fc.nat(1),
        async (at, inserted, removed) => {
          const text = SMALL.slice(0, at) + inserted + SMALL.slice(at + (at === start ? 0 : removed));
          expect(formatIssues((await parse(text)).issues)).not.toContain('Secret');
        },
      ),
      { numRuns: slipRuns.numRuns },
    );
  });
});

function stringifyOrEmpty(value: unknown): string {
  try {
    return stringify(value);
  } catch {
    return '';
  }
}
