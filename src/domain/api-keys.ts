/**
 * How the API keys of panels begin (app/Models/ApiKey.php of each; shared/src/models/user_api_key.rs of Calagopus). A client key has the
 * rights of one account; an application key administers the panel, and the client API rejects it.
 */
export const API_KEY_PREFIXES = {
  // Pterodactyl, Pelican, and Pelican until September 2025.
  client: ['ptlc_', 'pacc_', 'plcn_'],
  application: ['ptla_', 'papp_', 'peli_'],
  // Pyrodactyl and Hydrodactyl: both kinds of keys begin alike.
  either: ['pyro_', 'hydro_'],
  /** Calagopus, which isn't supported. */
  calagopus: ['c7sp_'],
} as const;

const { either, ...others } = API_KEY_PREFIXES;

/**
 * An API key, as the source of a regular expression. Prefixes that are words are followed by at least half a key, because servers
 * may be named like that.
 */
export const API_KEY_FORM = String.raw`\b(?:(?:${Object.values(others).flat().join('|')})[\w-]+|(?:${either.join('|')})[\w-]{20,})`;

/** The prefixes of a kind of API key, in words. */
export function prefixWords(kind: keyof typeof API_KEY_PREFIXES): string {
  return API_KEY_PREFIXES[kind].map((prefix) => `${prefix}…`).join(', ');
}

/** What to do about an application key. */
export const CLIENT_KEY_ADVICE = `Create a client API key (${prefixWords('client')}) in the account settings. Use the account of a user who can see the servers, not the admin area.`;

/** Whether the key's prefix shows that it is for the application API. */
export function isApplicationKey(key: string): boolean {
  return hasPrefix(key, 'application');
}

/** Whether the key begins as this kind of keys does. */
export function hasPrefix(key: string, kind: keyof typeof API_KEY_PREFIXES): boolean {
  return API_KEY_PREFIXES[kind].some((prefix) => key.startsWith(prefix));
}
