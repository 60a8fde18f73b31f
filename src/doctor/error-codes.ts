/** Errors are wrapped a few times at the most; a ring of causes must not hang us. */
const MAX_DEPTH = 8;

/** The codes and words of an error and of all that it was caused by, outermost first. */
export function errorTexts(error: unknown): readonly string[] {
  const texts: string[] = [];
  let layer: readonly unknown[] = [error];
  for (let depth = 0; depth < MAX_DEPTH && layer.length > 0; depth += 1) {
    const errors = layer.filter((one) => one instanceof Error);
    for (const one of errors) {
      const { code } = one as { readonly code?: unknown };
      if (typeof code === 'string') texts.push(code);
      texts.push(one.message);
    }
    layer = errors.flatMap(innerErrors);
  }
  return texts;
}

const innerErrors = (error: Error): readonly unknown[] =>
  error instanceof AggregateError ? [error.cause, ...error.errors] : [error.cause];

/** What is wrong with TLS, told from OpenSSL's and Node's own codes. */
export const TLS_TROUBLES = [
  'tls_expired',
  'tls_not_yet_valid',
  'tls_wrong_name',
  'tls_client_certificate',
  'tls_plain_port',
  'tls_unknown_ca',
  'tls',
] as const;
export type TlsTrouble = (typeof TLS_TROUBLES)[number];

const SIGNS: readonly (readonly [RegExp, TlsTrouble])[] = [
  [/CERT_HAS_EXPIRED/, 'tls_expired'],
  [/CERT_NOT_YET_VALID/, 'tls_not_yet_valid'],
  [/ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH/, 'tls_wrong_name'],
  [
    /CERTIFICATE_REQUIRED|ALERT_(?:BAD|UNKNOWN|UNSUPPORTED|NO)_CERT|ALERT_(?:UNKNOWN_CA|CERTIFICATE_)|alert (?:bad|unknown|no) certificate|alert unknown ca/i,
    'tls_client_certificate',
  ],
  [/WRONG_VERSION_NUMBER|wrong version number|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST/i, 'tls_plain_port'],
  [/SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY)|INVALID_CA|CERT_UNTRUSTED|CERT_CHAIN_TOO_LONG/, 'tls_unknown_ca'],
  [/^(?:ERR_TLS_|ERR_SSL_|ERR_OSSL_|CERT_|CRL_|INVALID_PURPOSE|PATH_LENGTH_|EPROTO$)/, 'tls'],
];

/** What is wrong with TLS, if that is what ended a connection. */
export function tlsTrouble(texts: readonly string[]): TlsTrouble | undefined {
  return SIGNS.find(([sign]) => texts.some((text) => sign.test(text)))?.[1];
}

/** Does an error's text speak of a proxy? */
export function speaksOfProxy(texts: readonly string[]): boolean {
  return texts.some((text) => /\bprox|UND_ERR_PRX/i.test(text));
}
