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

/** Whether the key begins as this kind of keys does. */
export function hasPrefix(key: string, kind: keyof typeof API_KEY_PREFIXES): boolean {
  return API_KEY_PREFIXES[kind].some((prefix) => key.startsWith(prefix));
}

const MAX_LENGTH = 4_096;

/** What is wrong with a key for the client API, without quoting it; undefined if nothing is. */
export function apiKeyProblem(key: string): string | undefined {
  if (hasPrefix(key, 'application')) {
    return `expected a client API key, but this is an application API key. ${CLIENT_KEY_ADVICE}`;
  }
  return keyTextProblem(key);
}

/** What keeps a text from being an API key of any kind, without quoting it; undefined if nothing does. */
export function keyTextProblem(key: string): string | undefined {
  if (key === '') return 'expected an API key, but it is empty';
  if (!/^[\x21-\x7e]+$/.test(key))
    return 'expected an API key without spaces, line breaks or special characters';
  if (key.length > MAX_LENGTH) return `expected an API key of at most ${MAX_LENGTH} characters`;
  if (/^[A-Za-z_]\w*=[^=]/.test(key)) return 'expected only the API key, without a name and = before it';
  if (/^(["']).*\1$/.test(key)) return 'expected only the API key, without quotes';
  // The panel shows it instead of the key, of which it is the beginning.
  return /^\w{16}$/.test(key)
    ? 'expected a whole API key, but 16 characters are only its identifier: the panel shows the key once, when it is created'
    : undefined;
}

const ONLY_KEY = new RegExp(`^(?:${API_KEY_FORM}|[A-Za-z0-9]{32,})$`);

/** Whether the text has the form of an API key, with a prefix or of an older panel. */
export function isApiKey(text: string): boolean {
  return ONLY_KEY.test(text);
}

/** The API key in a file, without the newline that editors and `echo` append. */
export function apiKeyOfFile(content: string): string {
  return content.replace(/\r?\n$/, '');
}
