// The generated JSON schema of the configuration.
import { z } from 'zod';
import { configSchema } from '../../src/config/config-schema.ts';
import type { SchemaNode } from '../../src/yaml/setting-types.ts';

/** The configuration's JSON schema (draft 7) for editors. */
export function configJsonSchema(): SchemaNode {
  const schema = z.toJSONSchema(configSchema, {
    io: 'input',
    target: 'draft-7',
    override: ({ zodSchema, jsonSchema }) => {
      // The program reads every value as text, so the type in the schema is misleading if a setting
      // declares another one in `anyOf`.
      if (jsonSchema.anyOf !== undefined) delete jsonSchema.type;
      // zod omits these for texts that are transformed, because they may describe the result. Here,
      // they describe the text in the file.
      const { default: initial, examples } = z.globalRegistry.get(zodSchema) ?? {};
      Object.assign(jsonSchema, initial === undefined ? {} : { default: initial }, examples && { examples });
    },
  });
  return schema as SchemaNode;
}

/** The text of `config.schema.json`. */
export function renderConfigSchema(): string {
  return `${JSON.stringify(configJsonSchema(), undefined, 2)}\n`;
}
