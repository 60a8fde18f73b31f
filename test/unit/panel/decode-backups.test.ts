import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBackupsPage } from '../../../src/panel/decode-backups.ts';
import { ShapeError } from '../../../src/panel/fields.ts';

const page = (data: unknown[], meta: unknown = {}) => ({ object: 'list', data, meta });
const entry = (attributes: object) => ({ object: 'backup', attributes });
const COMPLETED = { is_successful: true, completed_at: '2026-11-20T04:00:30+00:00', bytes: 1_024 };
const COMPLETED_AT_MS = Date.UTC(2026, 10, 20, 4, 0, 30);

describe('decodeBackupsPage', () => {
  it.each([
    ['a completed one', COMPLETED, { completedAtMs: COMPLETED_AT_MS, bytes: 1_024 }],
    ['an empty one', { ...COMPLETED, bytes: 0 }, { completedAtMs: COMPLETED_AT_MS, bytes: 0 }],
    ['one without a size', { ...COMPLETED, bytes: '7' }, { completedAtMs: COMPLETED_AT_MS }],
    ['one of an impossible size', { ...COMPLETED, bytes: -1 }, { completedAtMs: COMPLETED_AT_MS }],
  ])('reads %s', (_what, attributes, backup) => {
    expect(decodeBackupsPage(page([entry(attributes)]))).toEqual({ backups: [backup], totalPages: 1 });
  });

  it.each([
    ['that is being made', { ...COMPLETED, completed_at: null }],
    ['that failed', { ...COMPLETED, is_successful: false }],
    ['of no known outcome', { completed_at: COMPLETED.completed_at }],
    ['completed at no time', { ...COMPLETED, completed_at: 'soon' }],
  ])('passes over one %s', (_what, attributes) => {
    expect(decodeBackupsPage(page([entry(attributes), null, 7])).backups).toEqual([]);
  });

  it('reads how many pages there are', () => {
    expect(decodeBackupsPage(page([], { pagination: { total_pages: 4 } })).totalPages).toBe(4);
  });

  it('throws nothing but a ShapeError', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.jsonValue(),
          fc.array(fc.jsonValue()).map((data) => page(data)),
        ),
        (body) => {
          let problem: unknown;
          try {
            decodeBackupsPage(body);
          } catch (error) {
            problem = error;
          }
          expect(problem === undefined || problem instanceof ShapeError).toBe(true);
        },
      ),
    );
  });
});
