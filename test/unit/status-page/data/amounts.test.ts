import { describe, expect, it } from 'vitest';
import {
  coreLimitText,
  cores,
  rate,
  size,
  sizeLimitText,
  span,
} from '../../../../src/status-page/data/amounts.ts';

describe('formatted numbers', () => {
  it.each([
    [0, '0 MiB'],
    [999, '999 MiB'],
    [1_024, '1.00 GiB'],
    [10_240, '10.0 GiB'],
    [102_400, '100 GiB'],
    [2_097_152, '2.00 TiB'],
  ])('show %d MiB as %s', (value, text) => expect(size(value * 2 ** 20)).toBe(text));

  it.each([
    [0, '0 B/s'],
    [999, '999 B/s'],
    [1_000, '1.0 KiB/s'],
    [1_229, '1.2 KiB/s'],
    [12_288, '12 KiB/s'],
    [1_468_006, '1.4 MiB/s'],
  ])('show %d bytes a second as %s', (value, text) => expect(rate(value)).toBe(text));

  it.each([
    [0, '0 s'],
    [119.9, '119 s'],
    [120, '2 min'],
    [7_200, '2 h'],
    [172_800, '2 d'],
    [-5, '0 s'],
  ])('show %d seconds as %s', (value, text) => expect(span(value)).toBe(text));

  it.each([
    [512, '512 MiB'],
    [4_096, '4 GiB'],
    [10_752, '10.5 GiB'],
    [40_960, '40 GiB'],
    [102_400, '100 GiB'],
    [1_075, '1.05 GiB'],
  ])('show a limit of %d MiB as %s', (value, text) => expect(sizeLimitText(value * 2 ** 20)).toBe(text));

  it('show cores', () => {
    expect([cores(1.53), coreLimitText(1), coreLimitText(1.5)]).toEqual([
      '1.53 cores',
      '1 core',
      '1.5 cores',
    ]);
  });
});
