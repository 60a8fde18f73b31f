import { expect, it } from 'vitest';
import { isReloadHost } from '../../../src/http/routes.ts';

it.each([
  ['127.0.0.1:10317', true],
  ['192.0.2.1', true],
  ['[::1]:10317', true],
  ['[2001:db8::1]', true],
  ['localhost:10317', true],
  ['LocalHost', true],
  ['box', true],
  ['Box.:10317', true],
  ['exporter.example.com', true],
  ['evil.example', false],
  ['box.evil.example:10317', false],
  ['localhost.evil.example', false],
  ['127.0.0.1.evil.example', false],
  ['evil.example@127.0.0.1', false],
  ['127.0.0.1:10317:80', false],
  ['', false],
  [undefined, true],
])('a reload with the host %j is allowed: %j', (host, expected) => {
  expect(isReloadHost(host, ['box', 'exporter.example.com'])).toBe(expected);
});
