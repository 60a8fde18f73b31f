/** An object of unknown fields; JSON's arrays are none. */
export type Fields = Readonly<Record<string, unknown>>;

/** An answer that is JSON but not of the shape that the contract gives; the message says what was expected. */
export class ShapeError extends Error {
  override readonly name = 'ShapeError';
}

/** The value as an object whose fields can be read; undefined for everything else. */
export function asFields(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

/** The value, if it is a string with something in it. */
export function asText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
