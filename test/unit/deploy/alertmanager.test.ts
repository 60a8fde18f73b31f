import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readText, readYaml, repositoryPath } from '../../support/deploy-files.ts';

const FOLDER = 'deploy/alertmanager';
const FILES = readdirSync(repositoryPath(FOLDER)).filter((name) => name.endsWith('.yml'));

const inhibitionSchema = z.strictObject({
  source_matchers: z.array(z.string()),
  target_matchers: z.array(z.string()),
  equal: z.array(z.string()),
});

const integrationSchema = z.looseObject({ send_resolved: z.boolean() });

const configSchema = z.object({
  route: z.looseObject({}),
  inhibit_rules: z.array(inhibitionSchema),
  receivers: z.array(z.object({ name: z.string() }).catchall(z.array(integrationSchema))),
});

const rulesSchema = z.object({
  groups: z.array(z.object({ rules: z.array(z.object({ alert: z.string().optional() })) })),
});

const read = (name: string) => configSchema.parse(readYaml(`${FOLDER}/${name}`)[0]);
const base = read('alertmanager.yml');
const alerts = new Set(
  rulesSchema
    .parse(readYaml('deploy/prometheus/rules/gameserver.yml')[0])
    .groups.flatMap(({ rules }) => rules.flatMap(({ alert }) => alert ?? [])),
);

describe('alertmanager.yml', () => {
  it('refers only to existing alerts in its routes and inhibitions', () => {
    const text = readText(`${FOLDER}/alertmanager.yml`);
    const named = [...text.matchAll(/alertname = (\w+)/g)].map(([, name = '']) => name);
    const alternatives = [...text.matchAll(/alertname [=!]~ "(\w+)\(([\w|]+)\)"/g)];
    const listed = alternatives.flatMap(([, prefix = '', names = '']) =>
      names.split('|').map((name) => `${prefix}${name}`),
    );
    expect(listed.length).toBeGreaterThan(10);
    expect([...named, ...listed].filter((name) => !alerts.has(name))).toEqual([]);
  });

  it('sends no notifications until a receiver is configured', () => {
    expect(base.receivers).toEqual([{ name: 'page' }, { name: 'crash' }, { name: 'notify' }]);
  });
});

describe.each(FILES.filter((name) => name !== 'alertmanager.yml'))('%s', (name) => {
  const config = read(name);

  it('has the routes and inhibitions of alertmanager.yml', () => {
    expect(config.route).toEqual(base.route);
    expect(config.inhibit_rules).toEqual(base.inhibit_rules);
  });

  it('has one integration per receiver, and sends "resolved" for everything except crashes', () => {
    const kind = `${name.replace('.yml', '')}_configs`;
    expect(config.receivers).toEqual(
      base.receivers.map((receiver) => ({
        name: receiver.name,
        [kind]: [expect.objectContaining({ send_resolved: receiver.name !== 'crash' })],
      })),
    );
  });
});
