import { expect, test } from 'vitest';
import {
  formatListenAddress,
  ListenAddressError,
  ListenError,
  parseListenAddress,
} from '../../../src/http/listen-address.ts';

test.each([
  [':10317', { port: 10_317 }],
  [':0', { port: 0 }],
  ['127.0.0.1:0', { host: '127.0.0.1', port: 0 }],
  ['0.0.0.0:9100', { host: '0.0.0.0', port: 9_100 }],
  ['localhost:65535', { host: 'localhost', port: 65_535 }],
  ['[::1]:10317', { host: '::1', port: 10_317 }],
  ['[::]:80', { host: '::', port: 80 }],
])('%s is parsed, and formatted back', (text, listen) => {
  expect(parseListenAddress(text)).toEqual(listen);
  expect(formatListenAddress(listen)).toBe(text);
});

test.each([
  '',
  '10317',
  ':',
  ':65536',
  ':-1',
  ':1e3',
  ':80 ',
  '::1:80',
  '[::1]',
  '[1.2.3.4]:80',
  '[]:80',
  'http://a:1',
])('%j is rejected', (text) => {
  expect(() => parseListenAddress(text)).toThrow(ListenAddressError);
});

test('the error quotes the text and shows what is expected', () => {
  expect(() => parseListenAddress('10317')).toThrow(
    '--web.listen-address "10317": expected [host]:port with a port of 0 to 65535, ' +
      'such as ":10317", "127.0.0.1:10317" or "[::1]:10317"',
  );
});

test.each([
  [
    'EADDRINUSE',
    'cannot listen on :80: port 80 is already in use; stop the program that uses it, or choose another port with --web.listen-address',
  ],
  [
    'EACCES',
    'cannot listen on :80: no permission to use port 80; choose a port above 1023 with --web.listen-address',
  ],
  [
    'EADDRNOTAVAIL',
    "cannot listen on :80: this machine doesn't have this address; correct --web.listen-address",
  ],
  ['EWHATEVER', 'cannot listen on :80: odd; see --web.listen-address'],
])('%s is explained', (code, message) => {
  const cause = Object.assign(new Error('odd'), { code });
  const error = new ListenError({ port: 80 }, cause);
  expect(error.message).toBe(message);
  expect(error.cause).toBe(cause);
});
