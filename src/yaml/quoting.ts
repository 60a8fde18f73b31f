// Quotes a value in a message, without possible secrets.

import { KNOWN_SECRETS } from '../text/redaction.ts';
import type { Tree } from './tree.ts';

/** The maximum length of a quoted value. Longer ones are truncated. */
const MAX_QUOTED = 120;

/** Everything before the last `@`, because a password may contain any character. */
const USER_INFO = /^.*@/s;
const QUERY_VALUE = /([?&][^=&#]*=)[^&#]*/g;

/** An address, valid or not, without username, password and query values. */
export function withoutCredentials(text: string): string {
  const [scheme = ''] = /^[a-z]+:\/\//i.exec(text) ?? [];
  const rest = text.slice(scheme.length).replace(USER_INFO, '<secret>@');
  return KNOWN_SECRETS.redact(scheme + rest.replaceAll(QUERY_VALUE, '$1<secret>'));
}

/** A value for a message: a text in quotes, and the kind of anything else. */
export function quote(value: Tree): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value !== 'string') return 'a map';
  const shown = withoutCredentials(value);
  return JSON.stringify(shown.length > MAX_QUOTED ? `${shown.slice(0, MAX_QUOTED)}…` : shown);
}
