import { describe, expect, test } from 'vitest';
import { isClearText, normalizePanelUrl, panelUrlProblem } from '../../../src/config/panel-url.ts';

describe('addresses', () => {
  test.each([
    ['https://panel.example.com/server/1a7ce997', '/server/1a7ce997'],
    [
      'https://panel.example.com/server/1a7ce997-259b-452e-8b4e-cecc464142ca/files/',
      '/server/1a7ce997-259b-452e-8b4e-cecc464142ca/files',
    ],
    ['https://example.com/panel/auth/login', '/auth/login'],
    ['https://panel.example.com/login', '/login'],
    ['https://panel.example.com/account', '/account'],
    ['https://panel.example.com/admin', '/admin'],
    ['https://panel.example.com/admin/servers/view/3', '/admin/servers/view/3'],
  ])('%s is a page of the panel, not its address', (text, page) => {
    const problem = panelUrlProblem(text);
    expect(problem).toBe(`expected the base URL of the panel, without ${page}`);
  });

  test.each([
    'https://panel.example.com/panel',
    'https://example.com/server',
    'https://example.com/administration',
  ])('%s is accepted as a panel address', (text) => {
    expect(panelUrlProblem(text)).toBeUndefined();
  });

  test.each([
    ['https://panel.example.com', 'https://panel.example.com'],
    ['https://Panel.Example.com:443/', 'https://panel.example.com'],
    ['https://host:8443/panel//', 'https://host:8443/panel'],
  ])('%s is normalized to %s', (text, url) => {
    expect(normalizePanelUrl(text)).toBe(url);
  });

  test.each([
    ['http://panel.example.com', true],
    ['http://10.0.0.1', true],
    ['http://127.0.0.1.example.com', true],
    ['http://localhost.example.com', true],
    ['http://0.0.0.0', true],
    ['https://panel.example.com', false],
    ['http://localhost:8000', false],
    ['http://127.0.0.1:8000', false],
    ['http://127.1', false],
    ['http://[::1]:8000', false],
    ['http://panel.localhost', false],
    ['http://169.254.1.1', true],
    ['http://[fe80::1]', true],
    ['nonsense', false],
  ])('%s sends clear text over a network: %s', (text, clear) => {
    expect(isClearText(text)).toBe(clear);
  });
});
