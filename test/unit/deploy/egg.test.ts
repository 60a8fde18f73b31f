import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { serveCommand } from '../../../src/commands/serve.ts';
import { readText } from '../../support/deploy-files.ts';

/** Names that the panels reserve (`EggVariable::RESERVED_ENV_NAMES` of Pterodactyl and Pelican). */
const RESERVED = new Set(
  (
    'P_SERVER_UUID P_SERVER_ALLOCATION_LIMIT SERVER_MEMORY SERVER_IP SERVER_PORT ENV HOME USER STARTUP MODIFIED_STARTUP ' +
    'SERVER_UUID UUID INTERNAL_IP HOSTNAME TERM LANG PWD TZ TIMEZONE'
  ).split(' '),
);

const json = z.string().transform((text) => JSON.parse(text) as unknown);

/**
 * The data that the panels' importers read, with the validation rules of their models:
 * `EggImporterService`, `Egg` and `EggVariable` of Pterodactyl or Pelican, whichever is stricter.
 */
const eggSchema = z.strictObject({
  _comment: z.string(),
  meta: z.strictObject({ version: z.literal('PTDL_v2'), update_url: z.url().nullable() }),
  exported_at: z.iso.datetime({ offset: true }),
  name: z.string().min(1).max(191),
  author: z.email(),
  description: z.string(),
  features: z.array(z.string()).nullable(),
  docker_images: z
    .record(
      z.string(),
      z
        .string()
        .max(191)
        .regex(/^[\w#./\- ]*\|?~?[\w./\-:@ ]*$/),
    )
    .refine((images) => Object.keys(images).length > 0),
  file_denylist: z.array(z.string()),
  startup: z.string().min(1),
  config: z.strictObject({
    files: json.pipe(z.strictObject({})),
    startup: json.pipe(z.strictObject({ done: z.string().min(1), strip_ansi: z.literal(true) })),
    logs: json.pipe(z.strictObject({})),
    stop: z.string().max(191),
  }),
  scripts: z.strictObject({
    installation: z.strictObject({ script: z.string(), container: z.string(), entrypoint: z.string() }),
  }),
  variables: z.array(
    z.strictObject({
      name: z.string().min(1).max(191),
      description: z.string().min(1),
      env_variable: z.string().regex(/^\w{1,191}$/),
      default_value: z.string(),
      user_viewable: z.boolean(),
      user_editable: z.boolean(),
      rules: z.string().min(1),
      field_type: z.literal('text'),
    }),
  ),
});

const egg = eggSchema.parse(JSON.parse(readText('deploy/pterodactyl/egg-gameserver-exporter.json')));
const variables = new Map(egg.variables.map((variable) => [variable.env_variable, variable]));

describe('the egg', () => {
  it('has unreserved variables whose defaults pass their rules', () => {
    expect([...variables.keys()]).toEqual(['PANEL_URL', 'PANEL_API_KEY', 'EXPORTER_PACKAGE']);
    for (const { env_variable, rules, default_value } of egg.variables) {
      expect(RESERVED.has(env_variable), env_variable).toBe(false);
      const names = rules.split('|');
      expect(names, env_variable).toContain('required');
      const longest = Number(/^max:(\d+)$/.exec(names.at(-1) ?? '')?.[1]);
      expect(default_value.length, env_variable).toBeLessThanOrEqual(longest);
    }
  });

  it('has a startup command that every image splits the same way, with existing flags', () => {
    // Some images evaluate the command in a shell. Others split it at spaces.
    expect(egg.startup).not.toMatch(/["'`$&|;<>\\]/);
    const flags = [...egg.startup.matchAll(/ (--[\w.-]+)/g)].map(([, flag]) => flag);
    const known = serveCommand().options.map(({ long }) => long);
    for (const flag of flags) expect(known).toContain(flag);
    expect(egg.startup).toContain('--web.listen-address 0.0.0.0:{{SERVER_PORT}}');
  });

  it('has as many threads for name lookups as the image and the systemd unit', () => {
    const files = ['Dockerfile', 'deploy/systemd/gameserver-exporter.service'].map(readText);
    const sizes = [egg.startup, ...files].map((text) => /\bUV_THREADPOOL_SIZE=(\d+)/.exec(text)?.[1]);
    expect(sizes).toEqual(['16', '16', '16']);
    // Images that split the command at spaces don't support assignments.
    expect(egg.startup).toMatch(/^env UV_THREADPOOL_SIZE=\d+ node /);
  });
});
