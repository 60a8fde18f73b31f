import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Sample, SERVER_STATES } from '../../../src/domain/server.ts';
import { FIELD_OFFSET, SampleSlot, SLOT_SIZE } from '../../../src/fleet/sample-slot.ts';

const quantity = fc.double({ min: 0, noNaN: true });
const fields = Object.fromEntries(Object.keys(FIELD_OFFSET).map((field) => [field, quantity]));
const samples: fc.Arbitrary<Sample> = fc.record(
  { state: fc.constantFrom(...SERVER_STATES), ...fields },
  { requiredKeys: [] },
);

describe('SampleSlot', () => {
  it('returns each sample as it was written, without values of the previous one', () => {
    const slot = new SampleSlot(new Float64Array(SLOT_SIZE).fill(Number.NaN));
    fc.assert(
      fc.property(samples, (sample) => {
        slot.write(sample);
        expect(slot.read()).toEqual(sample);
      }),
    );
  });

  it('has a separate place for each field', () => {
    const places = Object.values(FIELD_OFFSET).sort((one, other) => one - other);
    expect(places).toEqual(Array.from({ length: SLOT_SIZE }, (_, index) => index));
  });
});
