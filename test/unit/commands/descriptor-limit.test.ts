import { describe, expect, it } from 'vitest';
import { descriptorLimit } from '../../../src/commands/descriptor-limit.ts';

describe('the limit on open files', () => {
  it('is the soft limit in the Node.js report', () => {
    expect(descriptorLimit({ userLimits: { open_files: { soft: 256, hard: 'unlimited' } } })).toBe(256);
  });

  it.each([
    ['the report contains "unlimited"', { userLimits: { open_files: { soft: 'unlimited' } } }],
    ['the system has no such limit', {}],
  ])('is unknown if %s', (_, report) => {
    expect(descriptorLimit(report)).toBeUndefined();
  });

  it('is known for this process', () => {
    expect(descriptorLimit()).toBeGreaterThan(0);
  });
});
