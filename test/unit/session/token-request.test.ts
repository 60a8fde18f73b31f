import { expect, it } from 'vitest';
import { toToken } from '../../../src/session/token-request.ts';

it('a token expires its lifetime after its receipt', () => {
  const credentials = { token: 'a.b.c', socketUrl: 'wss://node.example.com:8080/ws', lifetimeMs: 600_000 };
  expect(toToken(credentials, { isRenewal: false, now: 30_000, random: 0 }).expiresAt).toBe(630_000);
});
