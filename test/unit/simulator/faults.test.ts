import { describe, expect, it } from 'vitest';
import type { CallTarget } from '../../../src/simulator/api-gate.ts';
import { Faults } from '../../../src/simulator/faults.ts';
import type { RestFault } from '../../../src/simulator/simulator-schema.ts';

const ONE = { uuid: 'one', node: 0, nodeName: undefined } as const;
const TWO = { uuid: 'two', node: 0, nodeName: 'elsewhere' } as const;

const CALLS: Readonly<Record<string, CallTarget>> = {
  'a call for one': { endpoint: 'resources', server: 'one', node: 'node-1' },
  'a call for two': { endpoint: 'resources', server: 'two', node: 'elsewhere' },
  "the list of one's node": { endpoint: 'resources', node: 'node-1' },
  "the list of two's node": { endpoint: 'resources', node: 'elsewhere' },
  'the server list': { endpoint: 'listing' },
};

/** The restrictions of a fault, and the calls that it affects. */
const AFFECTED: readonly (readonly [what: string, Partial<RestFault>, readonly string[]])[] = [
  ['nothing', {}, Object.keys(CALLS)],
  ['a server', { server: 'one' }, ['a call for one']],
  ['a node', { node: 'elsewhere' }, ['a call for two', "the list of two's node"]],
  ['a server and its node', { server: 'one', node: 'node-1' }, ['a call for one']],
  ['a server and another node', { server: 'one', node: 'elsewhere' }, []],
  ['an endpoint', { endpoint: 'listing' }, ['the server list']],
  ['a node and an endpoint', { node: 'node-1', endpoint: 'backups' }, []],
];

it.each(AFFECTED)('a fault of calls that is limited to %s affects only those', (_what, scope, affected) => {
  const faults = new Faults();
  faults.addRest({ kind: 'drop', ...scope } as RestFault);
  const hit = Object.entries(CALLS).filter(([, call]) => faults.takeRest(call) !== undefined);
  expect(hit.map(([name]) => name)).toEqual(affected);
});

describe.each([
  ['nothing', {}, [true, true]],
  ['a server', { server: 'two' }, [false, true]],
  ['a node', { node: 'node-1' }, [true, false]],
] as const)('a fault of sockets that is limited to %s', (_what, scope, affected) => {
  it('affects only the upgrades of those', () => {
    const faults = new Faults();
    faults.addSocket({ kind: 'hang-upgrade', ...scope });
    const hit = [ONE, TWO].map((server) => faults.takeSocket(server, ['hang-upgrade']) !== undefined);
    expect(hit).toEqual(affected);
  });

  it.each([
    ['silence', 'isSilent'],
    ['frozen-stats', 'isFrozen'],
    ['late-stats', 'isLate'],
  ] as const)('affects only the open sockets of those: %s', (kind, affects) => {
    const faults = new Faults();
    faults.addSocket({ kind, ...scope });
    expect([ONE, TWO].map((server) => faults[affects](server))).toEqual(affected);
  });
});

it('a fault applies as many times as it says, and the next one then takes its place', () => {
  const faults = new Faults();
  faults.addRest({ kind: 'drop', times: 2 });
  faults.addRest({ kind: 'redirect' });
  const call = { endpoint: 'listing' } as const;
  expect([1, 2, 3].map(() => faults.takeRest(call)?.kind)).toEqual(['drop', 'drop', 'redirect']);
  faults.clear();
  expect(faults.takeRest(call)).toBeUndefined();
});
