import { describe, expect, it } from 'vitest';
import { NEVER } from '../../../src/domain/clock.ts';
import type { CauseCode, Problem } from '../../../src/domain/problems.ts';
import { outdatedAt } from '../../../src/session/outdated-failure.ts';
import { NOTHING_KNOWN, type Surroundings } from '../../../src/session/surroundings.ts';
import { target } from '../../support/targets.ts';

/** All events that may end a failure, each at another time. */
const ENDS = { panel: 1, node: 2, listed: 3, recovered: 4, recoveredOnNode: 5, access: 6 } as const;
type End = keyof typeof ENDS;

/** The server's node in the server list, and when the list was read. */
interface List {
  readonly node: string | undefined;
  readonly listedAt?: number;
}

const LISTED: List = { node: 'node-1' };

/** When a failure with this cause ended, if this was the only event. */
function outdatedBy(cause: CauseCode | undefined, end: End, { node, listedAt }: List = LISTED): number {
  const at = (one: End) => (one === end ? ENDS[end] : NEVER);
  const problem: Problem | undefined = cause && { cause, detail: 'why' };
  const by = (one: End) => new Map<CauseCode, number>(cause && one === end ? [[cause, ENDS[end]]] : []);
  const seen: Surroundings = {
    ...NOTHING_KNOWN,
    now: 100,
    isRunning: true,
    target: target({ node }),
    listedAt: listedAt ?? at('listed'),
    accessedAnewAt: at('access'),
    recovered: by('recovered'),
    recoveredOnNode: by('recoveredOnNode'),
  };
  return outdatedAt(
    problem,
    { heldBy: undefined, panelJudgedAt: at('panel'), nodeJudgedAt: at('node') },
    seen,
  );
}

describe('a failure is outdated by', () => {
  it.each<[string, CauseCode | undefined, readonly End[]]>([
    ['that may end by itself', 'timeout', ['panel', 'node', 'recoveredOnNode', 'access']],
    ['that isn’t known', undefined, ['panel', 'node', 'access']],
    ['that is the server’s state', 'suspended', ['listed', 'recovered', 'access']],
    ['that is of the server, or the panel’s address', 'not_found', ['panel', 'recovered', 'access']],
    ['that is of the account', 'forbidden', ['recovered', 'access']],
  ])('the ends that concern one %s', (_what, cause, expected) => {
    const ends = (Object.keys(ENDS) as End[]).filter((end) => outdatedBy(cause, end) === ENDS[end]);
    expect(ends).toEqual(expected);
  });

  it.each([
    ['no other server’s recovery if the server list lacks this one', 3, NEVER],
    ['another server’s recovery if the server list was never read', NEVER, ENDS.recovered],
  ])('%s', (_what, listedAt, expected) => {
    expect(outdatedBy('not_found', 'recovered', { node: undefined, listedAt })).toBe(expected);
  });
});
