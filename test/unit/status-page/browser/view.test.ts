import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SORT_KEYS } from '../../../../src/status-page/browser/sorting.ts';
import { readView, type View, writeView } from '../../../../src/status-page/browser/view.ts';

const NONE: View = { q: '', show: '', sort: '', open: '' };

describe('the view in the URL', () => {
  it.each<[string, Partial<View>]>([
    ['', {}],
    ['?q=valheim+1', { q: 'valheim 1' }],
    ['?show=attention%3Aany', { show: 'attention:any' }],
    ['?show=panel%3Aa%3Ab', { show: 'panel:a:b' }],
    ['?sort=cpu', { sort: 'cpu' }],
    ['?sort=-cpu', { sort: '-cpu' }],
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
    expect(writeView({ ...NONE, q: 'a' }, '?token=x&sort=cpu')).toBe('?token=x&q=a');
  });

  it('is read back as it was written', () => {
    const text = fc.string({ unit: 'grapheme' });
    const kind = fc.constantFrom('attention', 'verdict', 'state', 'condition', 'panel', 'data');
    const word = fc.string({ minLength: 1, unit: 'grapheme' });
    const show = fc.tuple(kind, word).map((parts) => parts.join(':'));
    const view = fc.record<View>({
      q: text,
      show: fc.oneof(fc.constant(''), show),
      sort: fc.constantFrom('', ...SORT_KEYS.flatMap((key) => [key, `-${key}`])),
      open: text,
    });
    fc.assert(
      fc.property(view, (view) => {
        expect(readView(writeView(view, ''))).toEqual(view);
      }),
    );
  });
});
