import { afterEach, describe, expect, it, vi } from 'vitest';
import { prettyMessage } from '../../../src/app/pretty-message.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const pretty = (line: Readonly<Record<string, unknown>>) => prettyMessage(line, 'msg');

describe('a pretty line', () => {
  it.each([
    [
      { msg: 'serving metrics on http://localhost:10317/metrics', version: '0.1.0' },
      'serving metrics on http://localhost:10317/metrics',
    ],
    [
      { msg: 'server survival: socket closed', panel: 'main', server: 'survival', cause: 'closed' },
      'server survival: socket closed panel=main cause=closed',
    ],
    [
      { msg: 'panel main (https://panel.example.com): panel down', panel: 'main', cause: 'panel_down' },
      'panel main (https://panel.example.com): panel down cause=panel_down',
    ],
    [
      { msg: 'TLS handshake failed', client: '::1', code: 'ECONNRESET' },
      'TLS handshake failed client=::1 code=ECONNRESET',
    ],
    [{ msg: 'reloaded', panels: { added: 1 }, servers: 7 }, 'reloaded'],
  ])('shows the message and the fields that the message does not mention: %j', (line, expected) => {
    expect(pretty(line)).toBe(expected);
  });

  it('shows an error with its stack', () => {
    const err = {
      type: 'TypeError',
      message: 'no',
      stack: 'TypeError: no\n    at f (a.js:1:2)\n    at g (b.js:3:4)',
    };
    expect(pretty({ msg: 'request failed', path: '/x', err })).toBe(
      'request failed path=/x err="TypeError: no at f (a.js:1:2) at g (b.js:3:4)"',
    );
    expect(pretty({ msg: 'request failed', err: { message: 'no' } })).toBe('request failed err="no"');
  });

  it('is a single line without terminal control characters', () => {
    const line = pretty({ msg: 'a\nb\r\nc\u2028d\u001b[2Je\u0085f', cause: 'x\ny' });
    expect(line).toBe('a b c d [2Je f cause=x y');
  });
});
