import { describe, expect, it } from 'vitest';
import { isFromAnotherSite, isReloadHost } from '../../../src/http/request-origin.ts';

describe('whether a request comes from another site', () => {
  it.each<[boolean, Readonly<Record<string, string>>]>([
    [false, { Host: 'exporter:10317' }],
    [false, { Host: 'exporter:10317', 'Sec-Fetch-Site': 'same-origin', Origin: 'http://exporter:10317' }],
    [false, { Host: 'exporter:10317', 'Sec-Fetch-Site': 'none' }],
    // A proxy may connect with another host name than the browser.
    [
      false,
      { Host: '127.0.0.1:10317', 'Sec-Fetch-Site': 'same-origin', Origin: 'https://metrics.example.com' },
    ],
    [false, { Host: 'Exporter:10317', Origin: 'http://exporter:10317' }],
    [true, { Host: 'exporter:10317', 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' }],
    [true, { Host: 'exporter:10317', 'Sec-Fetch-Site': 'same-site', Origin: 'http://exporter:80' }],
    [true, { Host: 'exporter:10317', Origin: 'https://evil.example' }],
    [true, { Host: 'exporter:10317', Origin: 'http://exporter:80' }],
    [true, { Host: 'exporter:10317', Origin: 'null' }],
    [true, { Origin: 'https://evil.example' }],
  ])('%s: %j', (expected, headers) => {
    expect(isFromAnotherSite((name) => headers[name])).toBe(expected);
  });
});

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
