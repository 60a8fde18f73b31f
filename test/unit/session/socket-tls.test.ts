import { expect, it } from 'vitest';
import { socketTls } from '../../../src/session/socket-tls.ts';

it("a panel's sockets share one context and their sessions, each panel its own", () => {
  const [tls, other] = [socketTls(), socketTls()];
  expect(tls().secureContext).toBe(tls().secureContext);
  expect(tls().sessions).toBe(tls().sessions);
  expect(other().secureContext).not.toBe(tls().secureContext);
  expect(other().sessions).not.toBe(tls().sessions);
});

it.each([
  [undefined, true],
  [{}, true],
  [{ insecureSkipVerify: false }, true],
  [{ insecureSkipVerify: true }, false],
])('with %j, certificates are verified: %s', (settings, isVerified) => {
  expect(socketTls(settings)().rejectUnauthorized).toBe(isVerified);
});

it('invalid certificates are an error of the first socket', () => {
  const tls = socketTls({ ca: 'nonsense', cert: 'nonsense' });
  expect(tls).toThrow(/PEM/);
});
