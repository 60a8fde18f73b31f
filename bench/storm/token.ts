// Console tokens with a fake signature, because signing would be the panel's largest cost.

interface Token {
  readonly server: string;
  readonly issuedAtMs: number;
  readonly expiresAtMs: number;
}

const HEAD = encode({ alg: 'HS256', typ: 'JWT' });
const SIGNATURE = Buffer.alloc(32, 1).toString('base64url');

let issued = 0;

export function newToken(server: string, lifetimeSeconds: number): string {
  issued += 1;
  // Not rounded to seconds, which would make tokens from the second of a node's start invalid.
  const iat = Date.now() / 1_000;
  const claims = { server_uuid: server, permissions: ['*'], jti: String(issued), iat };
  return `${HEAD}.${encode({ ...claims, exp: iat + lifetimeSeconds })}.${SIGNATURE}`;
}

/** The content of a token; undefined if it isn't a token. */
export function readToken(token: string): Token | undefined {
  try {
    const payload = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString();
    const { server_uuid: server, iat, exp } = JSON.parse(payload) as Record<string, unknown>;
    if (typeof server !== 'string') return undefined;
    return { server, issuedAtMs: Number(iat) * 1_000, expiresAtMs: Number(exp) * 1_000 };
  } catch {
    return undefined;
  }
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
