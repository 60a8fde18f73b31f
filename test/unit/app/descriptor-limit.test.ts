import { describe, expect, it } from 'vitest';
import { descriptorLimit, type LimitSources } from '../../../src/app/descriptor-limit.ts';

const LIMITS = `Limit                     Soft Limit           Hard Limit           Units
Max processes             62768                62768                processes
Max open files            100                  4096                 files
Max locked memory         8388608              8388608              bytes
`;

const refuse = (): never => {
  throw new Error('there is none');
};

const on = (sources: Partial<LimitSources>) =>
  descriptorLimit({ platform: 'linux', readLimits: refuse, report: refuse, ...sources });

describe('the limit on open files', () => {
  it('is the soft limit on Linux', () => {
    expect(on({ readLimits: () => LIMITS })).toBe(100);
  });

  it('comes from the Node.js report on other systems', () => {
    const report = () => ({ userLimits: { open_files: { soft: 256, hard: 'unlimited' } } });
    expect(on({ platform: 'darwin', report })).toBe(256);
  });

  it.each([
    ['the limit is "unlimited"', { readLimits: () => LIMITS.replace('100 ', 'unlimited ') }],
    ['/proc is missing', {}],
    ['the report contains "unlimited"', unlimitedReport()],
    ['the system has no such limit', { platform: 'win32', report: () => ({}) }],
  ] as const)('is unknown if %s', (_, sources) => {
    expect(on(sources)).toBeUndefined();
  });

  it('is known for this process', () => {
    expect(descriptorLimit()).toBeGreaterThan(0);
  });
});

function unlimitedReport(): Partial<LimitSources> {
  return { platform: 'darwin', report: () => ({ userLimits: { open_files: { soft: 'unlimited' } } }) };
}
