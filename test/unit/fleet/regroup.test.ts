import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ServerTarget } from '../../../src/domain/server.ts';
import type { Member } from '../../../src/fleet/members.ts';
import { regroup } from '../../../src/fleet/regroup.ts';
import { ServerRecord } from '../../../src/fleet/server-record.ts';
import { Session } from '../../../src/session/session.ts';
import type { SessionContext } from '../../../src/session/session-ports.ts';
import { target } from '../../support/targets.ts';

const UUID = '1a7ce997-259b-452e-8b4e-cecc464142ca';
const SHORT = UUID.slice(0, 8);
/** Another server with the same short id. */
const SUCCESSOR = `${SHORT}-0000-4000-8000-000000000000`;

/** Instead of a session, of which regrouping uses nothing. */
const UNUSED = {};

const create = (of: ServerTarget): Member => {
  const record = new ServerRecord(of, { socket: 60_000, poll: 60_000 });
  return { record, session: new Session(UNUSED as SessionContext, record) };
};

/** The forms in which a configuration can identify the same server. */
const FORMS = {
  'its short id': target({ id: SHORT, name: SHORT }),
  'its UUID': target({ id: UUID, name: UUID, uuid: UUID }),
  'its UUID in capitals': target({ id: UUID.toUpperCase(), name: 'survival', uuid: UUID }),
  'its short id, as in the server list': target({
    id: SHORT,
    name: 'survival',
    uuid: UUID,
    node: 'ams-1',
  }),
  'the server list alone': target({ id: UUID, name: 'survival', uuid: UUID, node: 'ams-1', expect: 'any' }),
} as const;

type Form = keyof typeof FORMS;
const NAMES = Object.keys(FORMS) as Form[];

describe('a server that is identified differently', () => {
  it.each(NAMES.flatMap((from) => NAMES.filter((to) => to !== from).map((to) => [from, to] as const)))(
    'keeps its record: %s, then %s',
    (from, to) => {
      const before = create(FORMS[from]);
      before.record.consoleLines += 1;
      const { members } = regroup([before], [FORMS[to]], create);
      expect(members).toEqual([before]);
      expect(members[0]?.record).toMatchObject({ consoleLines: 1, target: FORMS[to] });
    },
  );

  it.each(NAMES.filter((name) => name !== 'its short id'))(
    'is a different server if its short id belongs to another UUID: %s',
    (name) => {
      const before = create(FORMS[name]);
      const next = target({ id: SUCCESSOR, uuid: SUCCESSOR });
      const { members } = regroup([before], [next], create);
      expect(members[0]).not.toBe(before);
    },
  );

  it('keeps its record through any number of reloads, with any other servers', () => {
    const lists = fc.array(fc.tuple(fc.constantFrom(...NAMES), fc.uniqueArray(fc.nat(5))), { minLength: 1 });
    fc.assert(
      fc.property(lists, (reloads) => {
        const first = create(FORMS['its short id']);
        let members: readonly Member[] = [first];
        for (const [form, others] of reloads) {
          const targets = [...others.map((n) => target({ id: `other-${n}` })), FORMS[form]];
          ({ members } = regroup(members, targets, create));
          expect(members.at(-1)).toBe(first);
          expect(members).toHaveLength(targets.length);
        }
      }),
    );
  });
});

it('servers in another order, or that leave, are a new list; the same ones in the same order are not', () => {
  const targets = ['a', 'b', 'c'].map((id) => target({ id }));
  const { members } = regroup([], targets, create);
  expect(regroup(members, targets, create).isRegrouped).toBe(false);
  expect(regroup(members, targets.slice(0, 2), create).isRegrouped).toBe(true);
  const reversed = regroup(members, targets.toReversed(), create);
  expect(reversed.isRegrouped).toBe(true);
  expect(reversed.members).toEqual(members.toReversed());
});

describe('a server with a changed query', () => {
  const minecraft = { type: 'minecraft', intervalMs: 30_000 };
  const before = target({ query: minecraft, address: '203.0.113.7:25565', otherPorts: [25_566] });

  it.each<[string, ServerTarget]>([
    ['with another type', { ...before, query: { ...minecraft, type: 'valheim' } }],
    ['with another allocation in the server list', target({ query: minecraft, allocation: ':25565' })],
    ['with other ports in the server list', { ...before, otherPorts: [27_015] }],
    ['without a query', target({ address: '203.0.113.7:25565' })],
  ])('gets a new description: %s', (_, after) => {
    const member = create(before);
    regroup([member], [after], create);
    expect(member.record.target).toBe(after);
  });

  it('is unchanged if the new configuration is the same', () => {
    const member = create(before);
    const same = { ...before, query: { ...minecraft }, otherPorts: [25_566] };
    regroup([member], [same], create);
    expect(member.record.target).toBe(before);
  });
});
