/**
 * Prefixes of the API keys that panels issue. A client key has the rights of one account; an application key administers the panel,
 * and the client API rejects it.
 */
export const API_KEY_PREFIXES = {
  client: ['ptlc_', 'pacc_'],
  application: ['ptla_', 'papp_'],
} as const;

/** Letters that tell whose key it is; the letter after them stands for its kind. */
const STEMS = new Set(
  Object.values(API_KEY_PREFIXES).flatMap((kind) => kind.map((prefix) => prefix.slice(0, 3))),
);

/**
 * What an API key starts with, as the source of a regular expression. It takes any letter for the kind, so that kinds which panels add
 * later are struck out of messages, too.
 */
export const API_KEY_START = `\\b(?:${[...STEMS].join('|')})[a-z]_`;

/** Whether the key's prefix says that it is for the application API. */
export function isApplicationKey(key: string): boolean {
  return API_KEY_PREFIXES.application.some((prefix) => key.startsWith(prefix));
}
