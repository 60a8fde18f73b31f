import { describe, expect, it } from 'vitest';
import { Gates, OPEN } from '../../../../src/panel/scheduler/gates.ts';

const NOW = 1_000_000;
const NEVER = Number.POSITIVE_INFINITY;

interface Line {
  readonly name: string;
  readonly calls: { firstRank: readonly number[] };
}

const line = (name: string, deadline: number): Line => ({ name, calls: { firstRank: [deadline] } });

/** Gates with one line each. The first one is at OPEN. */
function gatesAt(...names: readonly string[]) {
  const gates = new Gates<Line>();
  const lines = names.map((name, index) => line(name, index));
  for (const one of lines) gates.put(one, one.name);
  return { gates, lines };
}

describe('the first line', () => {
  it('is the one with the first call, at whatever gate it stands', () => {
    const gates = new Gates<Line>();
    for (const [name, deadline] of [
      [OPEN, 4],
      ['gate lists', 2],
      ['gate lists', 1],
      [OPEN, 3],
    ] as const)
      gates.put(line(`${name} ${deadline}`, deadline), name);
    expect(gates.first?.name).toBe('gate lists 1');
  });

  it('is another one when its first call changes, or it leaves', () => {
    const { gates, lines } = gatesAt('gate a', 'gate b');
    const [first, second] = lines as [Line, Line];
    first.calls.firstRank = [5];
    gates.put(first, 'gate a');
    expect(gates.first).toBe(second);
    gates.delete(second, 'gate a');
    expect(gates.first).toBe(second);
    gates.delete(second, 'gate b');
    expect(gates.first).toBe(first);
    gates.delete(first, 'gate a');
    expect(gates.first).toBeUndefined();
  });
});

describe('a closed gate', () => {
  it.each<[string, number, (gates: Gates<Line>) => void, string]>([
    ['until an instant offers nothing before', NOW, (gates) => gates.openDue(NOW - 1), 'gate b'],
    ['until an instant offers its line from then on', NOW, (gates) => gates.openDue(NOW), 'gate a'],
    ['until it is opened offers nothing before', NEVER, (gates) => gates.openDue(NOW), 'gate b'],
    ['offers its line when it is opened', NEVER, (gates) => gates.open('gate a'), 'gate a'],
    ['offers its line when all are opened', NEVER, (gates) => gates.openAll(), 'gate a'],
    ['offers nothing when another is opened', NEVER, (gates) => gates.open('gate c'), 'gate b'],
    [
      'that is closed again opens at the new instant only',
      NOW,
      (gates) => {
        gates.close('gate a', NEVER);
        gates.openDue(NOW);
      },
      'gate b',
    ],
  ])('%s', (_what, until, then, first) => {
    const { gates } = gatesAt('gate a', 'gate b');
    gates.close('gate a', until);
    expect([gates.first?.name, gates.opensAt]).toEqual(['gate b', until]);
    then(gates);
    expect(gates.first?.name).toBe(first);
  });

  it('stays closed for a line that joins it, and is forgotten with its last line', () => {
    const { gates, lines } = gatesAt('gate a');
    gates.close('gate a', NOW);
    const other = line('gate a', -1);
    gates.put(other, 'gate a');
    expect([gates.first, gates.opensAt]).toEqual([undefined, NOW]);
    for (const one of [...lines, other]) gates.delete(one, 'gate a');
    expect(gates.opensAt).toBe(NEVER);
    gates.put(other, 'gate a');
    expect(gates.first).toBe(other);
  });
});

describe('the backlog', () => {
  const counts = ({ backlog, connects }: Gates<Line>) => [backlog, connects];

  it.each([
    ['gate a', 2, 1],
    ['gate shortage', 5, 2],
  ])(
    'is all calls at open gates, and also those at %s while it is closed: %i, %i connects',
    (gate, calls, connects) => {
      const { gates } = gatesAt(OPEN, gate);
      gates.count(OPEN, 2, 1);
      gates.count(gate, 2, 1);
      gates.close(gate, NEVER);
      gates.count(gate, 1, 0);
      gates.close(gate, NOW);
      expect(counts(gates)).toEqual([calls, connects]);
      gates.openAll();
      gates.open(gate);
      expect(counts(gates)).toEqual([5, 2]);
      gates.count(gate, -3, -1);
      expect(counts(gates)).toEqual([2, 1]);
    },
  );

  it('has no calls of lines that stand at no gate', () => {
    const { gates } = gatesAt(OPEN);
    gates.count('node', 3, 3);
    expect(counts(gates)).toEqual([0, 0]);
  });
});
