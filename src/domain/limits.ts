import type { Limit } from './server.ts';

// Binary units only: GB means 10⁹ to some and 2³⁰ to others, and a limit that is 7 % off misleads.
const UNIT_BYTES: Readonly<Record<string, number>> = {
  B: 1,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
  PiB: 2 ** 50,
};

export const SIZE_PATTERN = `^(\\d+(?:\\.\\d+)?) ?(${Object.keys(UNIT_BYTES).join('|')})$`;
export const COUNT_PATTERN = '^\\d+(?:\\.\\d+)?$';

const SIZE = new RegExp(SIZE_PATTERN);
const COUNT = new RegExp(COUNT_PATTERN);

/** Bytes of a size such as `4GiB`, or `unlimited`; undefined for any other text, and for 0. */
export function parseSizeLimit(text: string): Limit | undefined {
  if (text === 'unlimited') return text;
  const [, count = '', unit = ''] = SIZE.exec(text) ?? [];
  const bytes = Math.round(Number(count) * (UNIT_BYTES[unit] ?? 0));
  return bytes > 0 && Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** A number above 0 such as `1.5`, or `unlimited`; undefined for any other text. */
export function parseCountLimit(text: string): Limit | undefined {
  if (text === 'unlimited') return text;
  const count = COUNT.test(text) ? Number(text) : 0;
  return count > 0 && Number.isFinite(count) ? count : undefined;
}
