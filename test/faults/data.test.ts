// The data about a server whose source has a problem.
import { it } from 'vitest';
import { expectRow } from '../support/fault-row.ts';
import { slowRows } from './rows/all.ts';

it.each(slowRows('data'))('reports this fault and recovers from it: %s', (_name, row) => expectRow(row));
