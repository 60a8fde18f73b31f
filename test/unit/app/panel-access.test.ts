import { expect, it } from 'vitest';
import { publicUrl } from '../../../src/app/panel-access.ts';

it.each([
  ['https://panel.example.com', 'https://panel.example.com', 'https://panel.example.com'],
  ['https://example.com/panel', 'https://example.com', 'https://example.com/panel'],
  ['http://panel.internal:8080/games', 'https://panel.example.com', 'https://panel.example.com/games'],
])('users open the panel with url %s and origin %s at %s', (url, origin, expected) => {
  expect(publicUrl({ url, origin })).toBe(expected);
});
