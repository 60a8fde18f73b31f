import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { CauseCode } from '../../../src/domain/problems.ts';
import { CONDITIONS, type Condition } from '../../../src/domain/snapshot.ts';
import { MemberIndex } from '../../../src/fleet/member-index.ts';
import type { Member } from '../../../src/fleet/members.ts';
import { ServerRecord } from '../../../src/fleet/server-record.ts';
import { Session } from '../../../src/session/session.ts';
import type { SessionContext } from '../../../src/session/session-ports.ts';
import { target } from '../../support/targets.ts';

/** Instead of a session, of which the index uses nothing. */
const UNUSED = {};

function memberOf(index: number): Member {
  const record = new ServerRecord(target({ id: `id-${index}` }), { socket: 60_000, poll: 60_000 });
  return { record, session: new Session(UNUSED as SessionContext, record) };
}

const SERVERS = 6;
const NODES = ['ams-1', 'fra-1', undefined];
const CAUSES: readonly (CauseCode | undefined)[] = ['node_unreachable', 'closed', undefined];

const FACTS = {
  node: fc.constantFrom(...NODES),
  condition: fc.constantFrom(...CONDITIONS),
  cause: fc.constantFrom(...CAUSES),
  mode: fc.constantFrom('auto' as const, 'poll' as const),
  id: fc.constantFrom('short', 'long'),
};

const change = fc.record({
  server: fc.nat(SERVERS - 1),
  what: fc.constantFrom('add', 'remove', 'update'),
  // Usually, only one fact changes at a time.
  facts: fc.record(FACTS, { requiredKeys: [] }),
});

it('finds the same members as a look at all of them, whatever changes', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
      const all = Array.from({ length: SERVERS }, (_, index) => memberOf(index));
      const index = new MemberIndex();
      const begun = new Set<Member>();
      for (const { server, what, facts } of changes) {
        const member = all[server];
        if (member === undefined) throw new Error('expected a member');
        const { record } = member;
        const {
          node = record.target.node,
          condition = record.status.condition,
          cause = record.status.problem?.cause,
          mode = record.target.mode,
          id = record.target.id.split('-')[0],
        } = facts;
        record.target = target({ id: `${id}-${server}`, node, mode });
        record.setCollection({ condition, problem: cause && { cause, detail: '' } }, 'none');
        if (what === 'add') begun.add(member);
        else if (what === 'remove') begun.delete(member);
        if (what === 'add') index.add(member);
        else if (what === 'remove') index.remove(member);
        index.update(record);
        expectSame(index, [...begun]);
      }
    }),
  );
});

function expectSame(index: MemberIndex, begun: readonly Member[]): void {
  // Members can only be compared by their ids, because members without data are equal.
  const idsOf = (members: Iterable<Member>) => [...members].map(({ record }) => record.target.id).sort();
  const those = (isMeant: (record: ServerRecord) => boolean) =>
    idsOf(begun.filter(({ record }) => isMeant(record)));
  for (const node of NODES)
    if (node !== undefined)
      expect(idsOf(index.onNode(node))).toEqual(those((record) => record.node === node));
  for (const cause of CAUSES)
    if (cause !== undefined)
      expect(idsOf(index.withCause(cause))).toEqual(those(({ status }) => status.problem?.cause === cause));
  const inCondition = (condition: Condition) => those(({ status }) => status.condition === condition);
  for (const condition of CONDITIONS)
    expect(idsOf(index.inCondition(condition))).toEqual(inCondition(condition));
  const isPolled = ({ status, target: { mode } }: ServerRecord) =>
    status.condition === 'polling' || (mode === 'poll' && status.condition === 'waiting');
  const nodes = begun.map(({ record }) => record.node).filter((node) => node !== undefined);
  expect(index.nodes).toBe(new Set(nodes).size);
  expect(index.polled).toBe(those(isPolled).length);
  for (const member of begun) expect(index.withId(member.record.target.id)).toBe(member);
  expect(index.withId('nobody')).toBeUndefined();
}
