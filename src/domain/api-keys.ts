/**
 * Prefixes of the API keys that panels issue. A client key has the rights of one account; an application key administers the
 * panel, and the client API rejects it. The others are issued by newer panels.
 */
export const API_KEY_PREFIXES = {
  client: ['ptlc_', 'pacc_'],
  application: ['ptla_', 'papp_'],
  other: ['plcn_', 'peli_', 'c7sp_'],
} as const;

/** The letters of a prefix that identify the panel; the letter after them stands for the kind of key. */
const STEMS = new Set(
  Object.values(API_KEY_PREFIXES).flatMap((kind) => kind.map((prefix) => prefix.slice(0, 3))),
);

/**
 * The start of an API key, as the source of a regular expression. It accepts any letter for the kind, so that kinds that panels
 * add later are redacted as well.
 */
export const API_KEY_START = `\\b(?:${[...STEMS].join('|')})[a-z]_`;

/** Whether the key's prefix says that it is for the application API. */
export function isApplicationKey(key: string): boolean {
  return API_KEY_PREFIXES.application.some((prefix) => key.startsWith(prefix));
}
