import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { searchField, selectSearch } from '../../../../src/status-page/browser/search-field.tsx';
import { drawPart } from './drawn-parts.ts';

const onSearch = vi.fn<(text: string) => void>();

beforeEach(() => {
  onSearch.mockClear();
});

afterEach(() => {
  vi.unstubAllGlobals();
});

/** The field on a device with a mouse or with a touch screen. */
function draw(changes: { text?: string; shown?: number; all?: number } = {}, hasMouse = true) {
  vi.stubGlobal('matchMedia', () => ({ matches: hasMouse }));
  const drawn = drawPart(searchField({ text: '', shown: 5, all: 5, onSearch, ...changes }));
  const field = drawn.querySelector('input');
  if (field === null) throw new Error('no field');
  return { drawn, field };
}

/** Presses a key in the field. Returns false if the page handled it. */
function press(field: HTMLInputElement, key: string): boolean {
  const view = field.ownerDocument.defaultView;
  if (view === null) throw new Error('no window');
  return field.dispatchEvent(new view.KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
}

describe('the field of the search', () => {
  it.each([
    [{ shown: 5, all: 5 }, ''],
    [{ shown: 5, all: 1_500 }, '5 of 1,500'],
    [{ shown: 0, all: 5 }, '0 of 5'],
  ])('follows how many servers match: %j', (changes, text) => {
    expect(draw(changes).drawn.querySelector('.count')?.textContent).toBe(text);
  });

  it.each([
    [true, 'Search   ( / )'],
    [false, 'Search'],
  ])('names its key where there is one: %s', (hasMouse, text) => {
    expect(draw({}, hasMouse).field.placeholder).toBe(text);
  });

  it('passes on what is typed', () => {
    const { field } = draw({ text: 'a' });
    expect(field.value).toBe('a');
    field.value = 'ab';
    const view = field.ownerDocument.defaultView;
    if (view !== null) field.dispatchEvent(new view.Event('input', { bubbles: true }));
    expect(onSearch.mock.calls).toEqual([['ab']]);
  });

  it('is left and emptied with Escape, and no other key does that', () => {
    const { field } = draw({ text: 'a' });
    field.focus();
    press(field, 'a');
    expect([document.activeElement === field, onSearch.mock.calls]).toEqual([true, []]);
    press(field, 'Escape');
    expect([document.activeElement === field, onSearch.mock.calls]).toEqual([false, [['']]]);
  });

  it.each([
    ['ArrowDown', false],
    ['Enter', false],
    ['ArrowUp', true],
  ])('leaves the key %s to the browser: %s', (key, isLeft) => {
    expect(press(draw().field, key)).toBe(isLeft);
    expect(onSearch).not.toHaveBeenCalled();
  });

  it('gets the focus', () => {
    const { field } = draw({ text: 'abc' });
    const select = vi.spyOn(field, 'select');
    selectSearch();
    expect(select).toHaveBeenCalledTimes(1);
  });
});
