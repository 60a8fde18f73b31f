/** A user's name and password as a request brings them. */
export interface Credentials {
  readonly user: string;
  readonly password: string;
}

const BASIC = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i;

/** What an Authorization header of the scheme Basic holds (RFC 7617); undefined for any other and for a broken one. */
export function basicCredentials(header: string | undefined): Credentials | undefined {
  const [, encoded] = BASIC.exec(header ?? '') ?? [];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 ? undefined : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}
