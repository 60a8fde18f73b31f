import { describe, expect, it } from 'vitest';
import { CALAGOPUS_SOCKET } from '../../../../../src/panel/dialects/calagopus/socket-refusals.ts';

const { handleFrame, jwtErrorCause, readUpgradeRefusal } = CALAGOPUS_SOCKET;

describe("a token that Calagopus' daemon refuses", () => {
  it.each([
    ['invalid token: token is expired', true, 'token_clock'],
    ['invalid token: token has invalid issued at time', true, 'token_clock'],
    ['invalid token: token has been denied', true, 'token_clock'],
    ['unable to acquire socket jwt', false, 'token_refused'],
  ])('"%s"', (message, isFixable, cause) => {
    const calls: unknown[] = [];
    const ignore = () => undefined;
    handleFrame(Buffer.from(JSON.stringify({ event: 'jwt error', args: [message] })), false, {
      telemetry: {},
      unreadable: ignore,
      consoleLine: ignore,
      stats: ignore,
      status: ignore,
      authenticated: ignore,
      tokenEnding: ignore,
      daemonError: ignore,
      backupCompleted: ignore,
      jwtError: (error) => calls.push(error),
    });
    expect(calls).toEqual([{ message, isFixable, answersToken: false }]);
    expect(jwtErrorCause(message)).toBe(cause);
  });
});

it.each([
  [429, '{"errors":["too many connections"]}', 'too_many_handshakes'],
  [404, '{"errors":["server not found"]}', 'server_not_on_node'],
  [429, '<title>429 Too Many Requests</title>', 'upgrade_refused'],
  [403, 'Forbidden', 'origin'],
  [502, '<title>502 Bad Gateway</title>', 'upgrade_error'],
])('an upgrade that is refused with %i %s', (status, body, cause) => {
  expect(readUpgradeRefusal({ status, body, contentType: '' }).cause).toBe(cause);
});
