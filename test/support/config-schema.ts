import { z } from 'zod';
import { configSchema } from '../../src/config/config-schema.ts';
import type { SchemaNode } from '../../src/yaml/setting-types.ts';

/** The configuration's JSON schema (draft 7), as editors use it. */
export function configJsonSchema(): SchemaNode {
  const schema = z.toJSONSchema(configSchema, {
    io: 'input',
    target: 'draft-7',
    override: ({ zodSchema, jsonSchema }) => {
      // The program reads texts; a setting with another published type declares it in `anyOf`.
      if (jsonSchema.anyOf !== undefined) delete jsonSchema.type;
      // zod omits these if a text is transformed, since they may describe the result; here they describe what is in the file.
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
