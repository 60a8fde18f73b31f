import type { X509Certificate } from 'node:crypto';
import { isIPv6 } from 'node:net';
import type { ClientCertificates } from './web-settings.ts';

/** What a finished handshake tells of the client. */
export interface ClientIdentity {
  readonly certificate: Pick<X509Certificate, 'subjectAltName'> | undefined;
  /** Did an accepted authority sign the certificate? */
  readonly authorized: boolean;
}

/** Why a client may not come in; undefined where it may. */
export function certificateProblem(
  { asked, verified, allowedSans }: ClientCertificates,
  { certificate, authorized }: ClientIdentity,
): string | undefined {
  if (asked === 'no') return undefined;
  if (certificate === undefined) {
    // A list of names lets in who has one of them, so nobody without a certificate.
    return asked === 'required' || allowedSans !== undefined ? 'no client certificate' : undefined;
  }
  if (verified && !authorized) return 'a client certificate that no accepted authority signed';
  if (allowedSans === undefined) return undefined;
  const names = alternativeNames(certificate.subjectAltName ?? '');
  return names.some((name) => allowedSans.includes(name))
    ? undefined
    : 'a client certificate without an allowed name';
}

const NAME = /(?:^|, )(?<kind>DNS|IP Address|URI|email):(?<name>"(?:[^"\\]|\\.)*"|[^,]*)/gy;
const OTHER = /(?:^|, )[^:,]+:(?:"(?:[^"\\]|\\.)*"|[^,]*)/y;

/**
 * The DNS names, IP and mail addresses and URIs in a subject alternative name as Node prints it. Names that could be taken for
 * several come as JSON texts since CVE-2021-44532, so a comma in a name starts no other.
 */
export function alternativeNames(printed: string): readonly string[] {
  const names: string[] = [];
  let at = 0;
  while (at < printed.length) {
    NAME.lastIndex = at;
    OTHER.lastIndex = at;
    const known = NAME.exec(printed);
    if (known?.groups !== undefined) {
      const { kind, name = '' } = known.groups;
      const text = unquoted(name);
      if (text !== undefined) names.push(kind === 'IP Address' ? shortAddress(text) : text);
      at = NAME.lastIndex;
    } else if (OTHER.test(printed)) {
      at = OTHER.lastIndex;
    } else {
      return names;
    }
  }
  return names;
}

function unquoted(text: string): string | undefined {
  if (!text.startsWith('"')) return text;
  try {
    return String(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** `0:0:0:0:0:0:0:1` as people write it: `::1`. */
function shortAddress(address: string): string {
  return isIPv6(address) ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address;
}
