import { asFields, asText, type Fields } from './pterodactyl/fields.ts';

/**
 * Whether the body is in the shape of a Calagopus panel: errors are plain texts, and responses have no `attributes` (shared/src/response.rs
 * and backend/src/routes/api/client).
 */
export function isCalagopusAnswer(body: Fields): boolean {
  const { errors, servers, user, resources, token, url } = body;
  if (Array.isArray(errors)) return errors.length > 0 && errors.every((words) => asText(words) !== undefined);
  return (
    [servers, user, resources].some((part) => asFields(part) !== undefined) ||
    (asText(token) !== undefined && asText(url) !== undefined)
  );
}
