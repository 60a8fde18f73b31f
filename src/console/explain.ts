import type { PanelErrorKind } from '../panel/errors.ts';
import { CONNECT_PERMISSION, missingPermission } from './permissions.ts';

/** What the panel said last when it was asked for credentials. */
export interface Refused {
  /** Undefined where it gave them. */
  readonly kind: PanelErrorKind | undefined;
  /** Where the key came from, in words. */
  readonly keySource: string;
}

/** The trouble of a connection, with what may cure it where the key or its account's permissions are the cause. */
export function explainTrouble(trouble: string, { kind, keySource }: Refused): string {
  switch (kind) {
    case 'forbidden':
      return `${trouble}; the account needs the permission ${CONNECT_PERMISSION} for this server (the key came from ${keySource})`;
    case 'unauthorized':
    case 'not_found':
      return `${trouble} (the key came from ${keySource})`;
    case undefined:
      return /connect permission/i.test(trouble)
        ? `${trouble}: ${missingPermission(CONNECT_PERMISSION)}`
        : trouble;
    default:
      return trouble;
  }
}
