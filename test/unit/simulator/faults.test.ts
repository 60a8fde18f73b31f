import { describe, expect, it } from 'vitest';
import { Faults } from '../../../src/simulator/faults.ts';

describe('faults', () => {
  it('apply to the given endpoint and server, the given number of times', () => {
    const faults = new Faults();
    faults.addRest({ kind: 'drop', endpoint: 'resources', server: 'a', times: 2 });
    expect(faults.takeRest('websocket', 'a')).toBeUndefined();
    expect(faults.takeRest('resources', 'b')).toBeUndefined();
    expect(faults.takeRest('resources', 'a')?.kind).toBe('drop');
    expect(faults.takeRest('resources', 'a')?.kind).toBe('drop');
    expect(faults.takeRest('resources', 'a')).toBeUndefined();
  });

  it('apply to everything until they are cleared if nothing is specified', () => {
    const faults = new Faults();
    faults.addRest({ kind: 'garbage' });
    faults.addSocket({ kind: 'ignore-auth' });
    faults.addSocket({ kind: 'silence', server: 'a' });
    for (let time = 0; time < 3; time += 1)
      expect(faults.takeRest('listing', undefined)?.kind).toBe('garbage');
    expect(faults.takeSocket('a', ['hang-upgrade'])).toBeUndefined();
    expect(faults.takeSocket('a', ['ignore-auth'])?.kind).toBe('ignore-auth');
    expect([faults.isSilent('a'), faults.isSilent('b')]).toEqual([true, false]);
    faults.clear();
    expect(faults.takeRest('listing', undefined)).toBeUndefined();
    expect(faults.takeSocket('a', ['ignore-auth'])).toBeUndefined();
    expect(faults.isSilent('a')).toBe(false);
  });

  it('on frames affect the given server, or all', () => {
    const faults = new Faults();
    faults.addSocket({ kind: 'frozen-stats', server: 'a' });
    faults.addSocket({ kind: 'frozen-stats', server: 'b' });
    faults.addSocket({ kind: 'late-stats' });
    expect(['a', 'b', 'c'].map((server) => faults.isFrozen(server))).toEqual([true, true, false]);
    expect([faults.isLate('c'), faults.isSilent('a')]).toEqual([true, false]);
    faults.clear();
    expect([faults.isFrozen('a'), faults.isLate('c')]).toEqual([false, false]);
  });

  it('that lose events lose the given events, or all, and a fault of a server takes precedence over a general one', () => {
    const faults = new Faults();
    expect(faults.losesStatus('a', 'stopping')).toBe(false);
    faults.addSocket({ kind: 'lost-status', states: ['stopping'] });
    faults.addSocket({ kind: 'lost-status', server: 'a' });
    expect([faults.losesStatus('b', 'stopping'), faults.losesStatus('b', 'offline')]).toEqual([true, false]);
    expect([faults.losesStatus('a', 'stopping'), faults.losesStatus('a', 'offline')]).toEqual([true, true]);
    faults.addSocket({ kind: 'lost-words', server: 'a', words: ['exit code'] });
    expect([faults.losesWords('a', 'exit code'), faults.losesWords('a', 'disk full')]).toEqual([true, false]);
    expect(faults.losesWords('b', 'exit code')).toBe(false);
    faults.addSocket({ kind: 'early-words', server: 'b' });
    expect([faults.areWordsEarly('a'), faults.areWordsEarly('b')]).toEqual([false, true]);
    faults.clear();
    expect([faults.losesStatus('a', 'offline'), faults.losesWords('a', 'exit code')]).toEqual([false, false]);
    expect(faults.areWordsEarly('b')).toBe(false);
  });
});
