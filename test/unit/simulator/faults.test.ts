import { describe, expect, it } from 'vitest';
import { Faults } from '../../../src/simulator/faults.ts';

describe('faults', () => {
  it('strike the endpoint and server that they name, as often as they say', () => {
    const faults = new Faults();
    faults.addRest({ kind: 'drop', endpoint: 'resources', server: 'a', times: 2 });
    expect(faults.strikeRest('websocket', 'a')).toBeUndefined();
    expect(faults.strikeRest('resources', 'b')).toBeUndefined();
    expect(faults.strikeRest('resources', 'a')?.kind).toBe('drop');
    expect(faults.strikeRest('resources', 'a')?.kind).toBe('drop');
    expect(faults.strikeRest('resources', 'a')).toBeUndefined();
  });

  it('strike everything for ever where they name nothing, until they are cleared', () => {
    const faults = new Faults();
    faults.addRest({ kind: 'garbage' });
    faults.addSocket({ kind: 'ignore-auth' });
    faults.addSocket({ kind: 'silence', server: 'a' });
    for (let time = 0; time < 3; time += 1)
      expect(faults.strikeRest('listing', undefined)?.kind).toBe('garbage');
    expect(faults.strikeSocket('a', ['hang-upgrade'])).toBeUndefined();
    expect(faults.strikeSocket('a', ['ignore-auth'])?.kind).toBe('ignore-auth');
    expect([faults.isSilent('a'), faults.isSilent('b')]).toEqual([true, false]);
    faults.clear();
    expect(faults.strikeRest('listing', undefined)).toBeUndefined();
    expect(faults.strikeSocket('a', ['ignore-auth'])).toBeUndefined();
    expect(faults.isSilent('a')).toBe(false);
  });

  it('that change what sockets carry last for the server that they name, or for all', () => {
    const faults = new Faults();
    faults.addSocket({ kind: 'frozen-stats', server: 'a' });
    faults.addSocket({ kind: 'frozen-stats', server: 'b' });
    faults.addSocket({ kind: 'late-stats' });
    expect(['a', 'b', 'c'].map((server) => faults.isFrozen(server))).toEqual([true, true, false]);
    expect([faults.isLate('c'), faults.isSilent('a')]).toEqual([true, false]);
    faults.clear();
    expect([faults.isFrozen('a'), faults.isLate('c')]).toEqual([false, false]);
  });
});
