import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SORT_KEYS } from '../../../../src/status-page/browser/order.ts';
import { readView, type View, writeView } from '../../../../src/status-page/browser/view.ts';

const NONE: View = { search: '', filter: undefined, sorting: undefined, open: undefined };

describe('the view in the URL', () => {
  it.each<[string, Partial<View>]>([
    ['', {}],
    ['?q=valheim+1', { search: 'valheim 1' }],
    ['?show=attention%3Aany', { filter: { kind: 'attention', word: 'any' } }],
    ['?show=panel%3Aa%3Ab', { filter: { kind: 'panel', word: 'a:b' } }],
    ['?sort=cpu', { sorting: { key: 'cpu', isDescending: false } }],
    ['?sort=-cpu', { sorting: { key: 'cpu', isDescending: true } }],
    ['?open=main%2F1a7ce997', { open: 'main/1a7ce997' }],
  ])('is read from and written to %s', (query, view) => {
    expect(readView(query)).toEqual({ ...NONE, ...view });
    expect(writeView({ ...NONE, ...view }, '')).toBe(query);
  });

  it.each(['?show=nothing', '?show=state%3A', '?sort=beauty', '?sort=', '?open=', '?what=ever'])(
    'ignores %s',
    (query) => expect(readView(query)).toEqual(NONE),
  );

  it('keeps other parameters', () => {
    expect(writeView({ ...NONE, search: 'a' }, '?token=x&sort=cpu')).toBe('?token=x&q=a');
  });

  it('is read back as it was written', () => {
    const filter = fc.record({
      kind: fc.constantFrom('attention', 'state', 'condition', 'panel'),
      word: fc.string({ minLength: 1, unit: 'grapheme' }),
    });
    const view = fc.record({
      search: fc.string({ unit: 'grapheme' }),
      filter: fc.option(filter, { nil: undefined }),
      sorting: fc.option(fc.record({ key: fc.constantFrom(...SORT_KEYS), isDescending: fc.boolean() }), {
        nil: undefined,
      }),
      open: fc.option(fc.string({ minLength: 1, unit: 'grapheme' }), { nil: undefined }),
    });
    fc.assert(
      fc.property(view, (view) => {
        expect(readView(writeView(view as View, ''))).toEqual(view);
      }),
    );
  });
});
