import type { ServerTarget } from '../domain/server.ts';

/** Short and full ids share this much, so both name the same server. */
const SHARED_ID_LENGTH = 8;

/** What the short and the full id of one server have in common: its key within a panel. */
export function identityOf({ id }: Pick<ServerTarget, 'id'>): string {
  return id.slice(0, SHARED_ID_LENGTH).toLowerCase();
}

type Scalar = Exclude<keyof ServerTarget, 'labels' | 'limits'>;

// An object, so that the compiler tells of a field that is missing here.
const SCALARS = Object.keys({
  panel: true,
  id: true,
  name: true,
  expect: true,
  mode: true,
  uuid: true,
  node: true,
  egg: true,
  blocked: true,
  withoutBackups: true,
} satisfies Record<Scalar, true>) as readonly Scalar[];

/** Do both say the same of a server? A listing asks this of ten thousand servers at once. */
export function sameTarget(one: ServerTarget, other: ServerTarget): boolean {
  if (one === other) return true;
  for (const key of SCALARS) if (one[key] !== other[key]) return false;
  return sameEntries(one.labels, other.labels) && sameEntries(one.limits, other.limits);
}

function sameEntries(one: object, other: object): boolean {
  if (one === other) return true;
  const keys = Object.keys(one) as (keyof typeof one)[];
  if (keys.length !== Object.keys(other).length) return false;
  for (const key of keys) if (one[key] !== other[key]) return false;
  return true;
}
