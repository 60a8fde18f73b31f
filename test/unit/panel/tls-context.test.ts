import { expect, it } from 'vitest';
import { tlsOptions } from '../../../src/panel/tls-context.ts';

it.each([
  ['https://panel.example.com', true],
  ['https://127.0.0.1:8443/panel', true],
  ['http://panel.example.com', false],
  ['http://127.0.0.1:3128', false],
])('connections to %s share a context: %s', (address, isShared) => {
  expect(tlsOptions(address, {}).secureContext !== undefined).toBe(isShared);
});

it('what can’t be used is left to the connections, which say why', () => {
  const material = { ca: 'no certificate', cert: 'none', key: 'none' };
  expect(tlsOptions('https://panel.example.com', material)).toEqual({
    ...material,
    secureContext: undefined,
  });
});
