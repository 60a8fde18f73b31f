import { describe, expect, it } from 'vitest';
import { isFromAnotherSite } from '../../../src/http/routes.ts';

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
