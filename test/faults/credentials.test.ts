// Faults of the credentials endpoint.
import { it } from 'vitest';
import { expectRow } from '../support/fault-row.ts';
import { slowRows } from './rows/all.ts';

it.each(slowRows('credentials'))('reports this fault and recovers from it: %s', (_name, row) =>
  expectRow(row),
);
