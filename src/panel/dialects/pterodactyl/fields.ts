/** An object with unknown fields; JSON arrays are excluded. */
export type Fields = Readonly<Record<string, unknown>>;

/** The value as an object whose fields can be read; undefined for anything else. */
export function asFields(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

/** The value if it is a non-empty string. */
export function asText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
