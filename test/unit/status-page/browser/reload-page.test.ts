import { afterEach, expect, it, vi } from 'vitest';
import { reloadIfUpdated } from '../../../../src/status-page/browser/reload-page.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

it.each<[string, readonly string[], readonly boolean[]]>([
  ['another version', ['1.1.0'], [true]],
  ['another version only once, as a cache may have the old page', ['1.1.0', '1.1.0'], [true, false]],
  ['each of two other versions', ['1.1.0', '1.2.0'], [true, true]],
  ['its own version never', ['1.0.0'], [false]],
])('the page is loaded again for %s', (_what, versions, expected) => {
  const stored = new Map<string, string>();
  let reloads = 0;
  vi.stubGlobal('document', { documentElement: { dataset: { version: '1.0.0' } } });
  vi.stubGlobal('sessionStorage', {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => stored.set(key, value),
  });
  vi.stubGlobal('location', {
    reload: () => {
      reloads += 1;
    },
  });
  expect(versions.map((version) => reloadIfUpdated(version))).toEqual(expected);
  expect(reloads).toBe(expected.filter(Boolean).length);
});
