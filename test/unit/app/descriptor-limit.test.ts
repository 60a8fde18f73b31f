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
  it('is the soft one that Linux shows', () => {
    expect(on({ readLimits: () => LIMITS })).toBe(100);
  });

  it("comes from Node's report elsewhere", () => {
    const report = () => ({ userLimits: { open_files: { soft: 256, hard: 'unlimited' } } });
    expect(on({ platform: 'darwin', report })).toBe(256);
  });

  it.each([
    ['there is none', { readLimits: () => LIMITS.replace('100 ', 'unlimited ') }],
    ['there is no /proc', {}],
    ['a report says that there is none', unlimitedReport()],
    ['the system has no such limits', { platform: 'win32', report: () => ({}) }],
  ] as const)('is unknown where %s', (_, sources) => {
    expect(on(sources)).toBeUndefined();
  });

  it('of this process is known', () => {
    expect(descriptorLimit()).toBeGreaterThan(0);
  });
});

function unlimitedReport(): Partial<LimitSources> {
  return { platform: 'darwin', report: () => ({ userLimits: { open_files: { soft: 'unlimited' } } }) };
}
