/** Reads Calagopus' refusals of calls: lists of texts (shared/src/response.rs). */
import type { CauseCode } from '../../../domain/problems.ts';
import type { BlockedReason } from '../../../domain/server.ts';
import type { ErrorBody, PanelRefusal } from '../../dialect.ts';
import { readBody } from '../refused-body.ts';
import { asFields, asText, type Fields } from '../wire.ts';

/** The list of texts, if the body contains nothing else. */
function textsIn({ errors, ...others }: Fields): readonly string[] | undefined {
  if (!Array.isArray(errors) || errors.length === 0 || Object.keys(others).length > 0) return undefined;
  const texts = errors.filter((text) => asText(text) !== undefined);
  return texts.length === errors.length ? texts : undefined;
}

/**
 * Whether only this panel sends such a body: its refusals are plain texts, and its responses have
 * no `attributes` (backend/src/routes/api/client).
 */
export function isOwnBody(body: unknown): boolean {
  const fields = asFields(body) ?? {};
  if (textsIn(fields) !== undefined) return true;
  const { servers, user, resources, token, url } = fields;
  return (
    [servers, user, resources].some((part) => asFields(part) !== undefined) ||
    (asText(token) !== undefined && asText(url) !== undefined)
  );
}

export function readRefusal(text: string, contentType: string): ErrorBody {
  return readBody(text, contentType, (body) => {
    const texts = textsIn(body);
    return texts && { form: 'envelope', detail: texts.join('; ') };
  });
}

/**
 * Texts of 403 about the key or its account (backend/src/routes/api/client/mod.rs). Other texts
 * name the missing permission (shared/src/models/user/auth.rs).
 */
const FORBIDDEN: readonly (readonly [RegExp, CauseCode])[] = [
  [/^ip address not allowed/i, 'key_address'],
  [/^two-factor authentication required/i, 'key_two_factor'],
  [/^account is suspended/i, 'key_refused'],
];

/** Texts of 409 (backend/src/routes/api/client/servers/_server_/mod.rs). */
const CONFLICTS: readonly (readonly [RegExp, BlockedReason])[] = [
  [/suspended/i, 'suspended'],
  [/transferred/i, 'transferring'],
  [/restor/i, 'restoring'],
  [/currently installing/i, 'installing'],
  [/install/i, 'install_failed'],
];

/** Why the panel rejected a call. */
export function refusalCause({ endpoint, status, detail = '' }: PanelRefusal): CauseCode {
  switch (status) {
    case 401:
      return 'key_refused';
    case 403:
      return (
        FORBIDDEN.find(([text]) => text.test(detail))?.[1] ??
        (endpoint === 'listing' ? 'listing_refused' : 'forbidden')
      );
    case 404:
      // The panel knows the server, but its node reports nothing about it.
      return /resource usage/i.test(detail) ? 'server_not_on_node' : 'not_found';
    case 409:
      return CONFLICTS.find(([text]) => text.test(detail))?.[1] ?? 'maintenance';
    case 429:
      return 'rate_limited';
    case 504:
      return 'timeout';
    default:
      if (status < 500) return 'bad_request';
      return status === 502 || status === 503 ? 'panel_down' : 'panel_error';
  }
}
