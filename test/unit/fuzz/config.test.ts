import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect } from 'vitest';
import { stringify } from 'yaml';
import { parseConfig } from '../../../src/config/parse.ts';
import { renderFleet } from '../../../src/metrics/exposition.ts';
import { parseExposition } from '../../support/exposition-parser.ts';
import { describeFuzz } from '../../support/fuzz.ts';
import { hostileText } from '../../support/hostile.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { fleetReading, panelReading, streamingReading } from '../../support/readings.ts';

const EXAMPLE = readFileSync('config.example.yaml', 'utf8');

const scalar = fc.oneof(
  hostileText,
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.double({ noNaN: true }),
);

/** Usually a valid value, so that many configurations are accepted. */
function mostly(good: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 20, arbitrary: good }, { weight: 1, arbitrary: scalar });
}

const hex = (length: number) =>
  fc
    .array(fc.constantFrom(...'0123456789abcdef'.split('')), { minLength: length, maxLength: length })
    .map((digits) => digits.join(''));

const labelName = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('game', 'region', 'constructor', 'value_of', 'A1', '_x') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('__proto__', '__name__', 'le', 'server', 'state', 'a-b', 'ä', '0'),
  },
);

const server = fc.record(
  {
    id: mostly(hex(8)),
    name: mostly(hostileText),
    labels: mostly(fc.array(fc.tuple(labelName, hostileText), { maxLength: 3 }).map(Object.fromEntries)),
    expect: mostly(fc.constantFrom('any', 'running')),
    mode: mostly(fc.constantFrom('auto', 'socket', 'poll')),
    limits: mostly(fc.record({ memory: mostly(fc.constantFrom('4GiB', 'unlimited', '1e3', '0')) })),
  },
  { requiredKeys: ['id'] },
);

const panel = fc.record(
  {
    name: mostly(hostileText),
    url: mostly(fc.constant('https://panel.example.com')),
    api_key: mostly(fc.constant('ptlc_x')),
    poll_interval: mostly(fc.constantFrom('30s', '1m', '20s')),
    servers: mostly(fc.array(server, { maxLength: 4 })),
  },
  { requiredKeys: ['name', 'url', 'api_key', 'servers'] },
);

const structured = fc.array(panel, { minLength: 1, maxLength: 2 }).map((panels) => stringify({ panels }));

/** The example configuration with removed, duplicated, indented, uncommented or truncated lines. */
const mutated = fc
  .array(
    fc.record({
      at: fc.nat({ max: EXAMPLE.split('\n').length }),
      change: fc.constantFrom('drop', 'double', 'indent', 'uncomment', 'cut'),
    }),
    { minLength: 1, maxLength: 6 },
  )
  .map((changes) => {
    let lines = EXAMPLE.split('\n');
    for (const { at, change } of changes)
      lines = lines.flatMap((line, index) => (index === at ? changed(line, change) : [line]));
    return lines.join('\n');
  });

function changed(line: string, change: string): string[] {
  switch (change) {
    case 'drop':
      return [];
    case 'double':
      return [line, line];
    case 'indent':
      return [`  ${line}`];
    case 'uncomment':
      return [line.replace('#', '')];
    default:
      return [line.slice(0, line.length / 2)];
  }
}

describeFuzz({
  folder: 'config',
  holds: 'a configuration is rejected with position and reason, or gives series that Prometheus accepts',
  runs: 300,
  input: fc.record({ yaml: fc.oneof(structured, mutated) }),
  expectHeld: async ({ yaml }) => {
    const { config, issues } = await parseConfig(yaml, 'config.yaml', { PANEL_API_KEY: 'ptlc_y' });
    if (config === undefined) {
      expect(issues.length).toBeGreaterThan(0);
      for (const { line, message } of issues) {
        expect(line).toBeGreaterThan(0);
        expect(message).not.toContain('ptlc_');
      }
      return;
    }
    const { panels } = config;
    const targets = panels.flatMap((each) => each.servers);
    const readings = targets.map((each) => streamingReading({ target: each }));
    const fleet = fleetReading(
      readings,
      panels.map(({ name }) => panelReading({ name })),
    );
    const families = parseExposition([...renderFleet(fleet, new ManualClock())].join(''));
    const shown = families.find(({ name }) => name === 'gameserver_starts_total')?.series ?? [];
    expect(shown.map(({ labels }) => labels)).toEqual(
      targets.map(({ panel: of, name, id, labels }) => {
        const all = { panel: of, server: name, server_id: id.slice(0, 8).toLowerCase(), ...labels };
        return Object.fromEntries(Object.entries(all).map(([key, value]) => [key, wellFormed(value)]));
      }),
    );
  },
});

/** Replaces halves of surrogate pairs, which have no UTF-8 encoding. */
function wellFormed(text: string): string {
  return text.replaceAll(/\p{Surrogate}/gu, '\uFFFD');
}
