// The types of limits: sizes and counts, which may be unlimited.

import type { Limit } from '../domain/limits.ts';
import { type JsonSchema, orVariable, scalar } from './setting-types.ts';

// Only binary units: GB means 10⁹ to some people and 2³⁰ to others, and a limit that is wrong by 7
// % is misleading.
const UNITS: readonly string[] = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
export const SIZE_PATTERN = `^(\\d+(?:\\.\\d+)?) ?(${UNITS.join('|')})$`;
const COUNT_PATTERN = '^(\\d+(?:\\.\\d+)?)$';

/** Bytes above 0, or `unlimited`. */
export const sizeLimit = () => limit('a size such as 4GiB or 512MiB', SIZE_PATTERN);

/** A number above 0, or `unlimited`. */
export const countLimit = () =>
  limit('a number of cores such as 1.5', COUNT_PATTERN, { type: 'number', exclusiveMinimum: 0 });

function limit(expected: string, pattern: string, ...json: readonly JsonSchema[]) {
  const read = (text: string): Limit | undefined => {
    if (text === 'unlimited') return text;
    const [, count, unit] = new RegExp(pattern).exec(text) ?? [];
    const amount =
      unit === undefined ? Number(count) : Math.round(Number(count) * 1_024 ** UNITS.indexOf(unit));
    return amount > 0 && amount <= Number.MAX_SAFE_INTEGER ? amount : undefined;
  };
  const written = orVariable(...json, { type: 'string', pattern }, { const: 'unlimited' });
  return scalar(`${expected}, or unlimited`, { read, json: written });
}
