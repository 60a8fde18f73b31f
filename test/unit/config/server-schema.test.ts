import { expect, test } from 'vitest';
import { parseHost } from '../../../src/config/server-schema.ts';

test.each([
  ['Node1.example.com', 'node1.example.com'],
  ['10.0.0.1', '10.0.0.1'],
  ['::1', '[::1]'],
  ['[FE80::1]', '[fe80::1]'],
])('the host %j is parsed as %s', (text, host) => {
  expect(parseHost(text)).toBe(host);
});
