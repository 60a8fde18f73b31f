// A fault of each kind, for every run of the tests.
import { it } from 'vitest';
import { expectRow } from '../../support/fault-row.ts';
import { QUICK_ROWS } from '../rows/all.ts';

it.each(QUICK_ROWS)('reports this fault and recovers from it: %s', (_name, row) => expectRow(row));
