import { z } from 'zod';
import { configSchema } from './schema.ts';
import type { Path } from './tree.ts';

/** The part of a JSON schema that is walked by paths. */
export interface SchemaNode {
  readonly items?: SchemaNode;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
}

/** The configuration's JSON schema (draft 7), as editors use it. */
export function configJsonSchema(): SchemaNode {
  const schema = z.toJSONSchema(configSchema, {
    io: 'input',
    target: 'draft-7',
    override: ({ zodSchema, jsonSchema }) => {
      // The program reads texts; a setting whose published type is another says so in `anyOf`.
      if (jsonSchema.anyOf !== undefined) delete jsonSchema.type;
      // zod leaves these out where a text is transformed, since they may describe the result; ours
      // describe what is in the file.
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

/** The keys that the section at a path knows, going by the configuration's JSON schema. */
export function knownKeys(root: SchemaNode, path: Path): readonly string[] {
  let schema: SchemaNode | undefined = root;
  for (const step of path) schema = typeof step === 'number' ? schema?.items : schema?.properties?.[step];
  return Object.keys(schema?.properties ?? {});
}
