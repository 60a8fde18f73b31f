import { beforeEach, describe, expect, it } from 'vitest';
import { NEVER } from '../../../src/domain/clock.ts';
import type { Problem } from '../../../src/domain/problems.ts';
import { PanelSurroundings } from '../../../src/fleet/panel-surroundings.ts';
import type { PanelChange } from '../../../src/panel/gateway.ts';
import { pathSubject, pollsSubject, type Subject, socketsSubject } from '../../../src/panel/subjects.ts';
import { FakeGateway } from '../../support/fleet-bench.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { READ_AT, serverReading } from '../../support/readings.ts';

const HELD: Problem = { cause: 'node_connection', detail: '' };

let clock: ManualClock;
let gateway: FakeGateway;
let surroundings: PanelSurroundings;

beforeEach(() => {
  clock = new ManualClock();
  gateway = new FakeGateway();
  surroundings = new PanelSurroundings({ clock, gateway });
});

const emit = (change: PanelChange) => void gateway.events.emit('changed', change);
const judge = (subject: Subject) => emit({ of: 'subject', subject });
const recover = (node: string | undefined) => emit({ of: 'recovery', cause: 'suspended', node });

/** The record of a server on this node. */
const record = (node?: string) =>
  ({ ...serverReading(), node }) as unknown as Parameters<PanelSurroundings['of']>[0];
const seen = (node?: string) => surroundings.of(record(node), {});

/**
 * When the panel and the node were last judged, from the point of view of the node's sockets and
 * polls.
 */
function judged(node?: string) {
  const { sockets, polls } = seen(node);
  return [sockets.panelJudgedAt, sockets.nodeJudgedAt, polls.panelJudgedAt, polls.nodeJudgedAt];
}

describe('a judgment', () => {
  const own = READ_AT;

  it.each<[Subject, readonly number[]]>([
    ['panel', [own, NEVER, own, NEVER]],
    ['consoles', [own, NEVER, NEVER, NEVER]],
    [pathSubject('websocket'), [own, NEVER, NEVER, NEVER]],
    [pathSubject('resources'), [NEVER, NEVER, own, NEVER]],
    [socketsSubject('a'), [NEVER, own, NEVER, NEVER]],
    [pollsSubject('a'), [NEVER, NEVER, NEVER, own]],
    [socketsSubject('b'), [NEVER, NEVER, NEVER, NEVER]],
  ])('of %s concerns what depends on it', (subject, expected) => {
    judge(subject);
    expect(judged('a')).toEqual(expected);
  });

  it('counts with its last time, and of a node only if that is known', async () => {
    judge('panel');
    judge(socketsSubject('a'));
    await clock.advance(5);
    judge(pathSubject('websocket'));
    expect(judged()).toEqual([READ_AT + 5, NEVER, READ_AT, NEVER]);
    judge(socketsSubject('a'));
    expect(judged('a')[1]).toBe(READ_AT + 5);
  });
});

describe('a recovery', () => {
  const recovered = (node?: string) => {
    const all = seen(node);
    return [all.recovered.get('suspended'), all.recoveredOnNode.get('suspended')];
  };

  it('is known for the panel, and for its node', async () => {
    recover('a');
    await clock.advance(5);
    recover('b');
    expect([recovered('a'), recovered('b'), recovered('c')]).toEqual([
      [READ_AT + 5, READ_AT],
      [READ_AT + 5, READ_AT + 5],
      [READ_AT + 5, undefined],
    ]);
  });

  it('of a server without a node concerns those without one', () => {
    recover(undefined);
    expect([recovered(), recovered('a')]).toEqual([
      [READ_AT, READ_AT],
      [READ_AT, undefined],
    ]);
  });
});

it('other changes of the panel change nothing', () => {
  emit({ of: 'rate' });
  expect([...judged('a'), seen('a').recovered.size]).toEqual([NEVER, NEVER, NEVER, NEVER, 0]);
});

it('the nodes of removed servers are forgotten', () => {
  for (const node of ['a', 'b']) {
    judge(socketsSubject(node));
    recover(node);
  }
  judge('panel');
  surroundings.keepNodes([record('a'), record()]);
  expect([judged('a')[1], judged('b')[1], judged('b')[0]]).toEqual([READ_AT, NEVER, READ_AT]);
  expect([seen('a'), seen('b')].map(({ recoveredOnNode }) => recoveredOnNode.size)).toEqual([1, 0]);
});

it('the rest is what the panel and the fleet know at this moment', () => {
  gateway.problems.sockets.set('a', HELD);
  gateway.trying.set('1a7ce997', { isFresh: true });
  surroundings.listedAt = 7;
  surroundings.accessedAnewAt = 8;
  const all = surroundings.of(record('a'), { hasRoom: false });
  expect(all).toMatchObject({
    now: READ_AT,
    target: { id: '1a7ce997' },
    listedAt: 7,
    accessedAnewAt: 8,
    hasRoom: false,
    sockets: { heldBy: HELD },
    trial: { isFresh: true },
  });
  expect(seen('b').sockets.heldBy).toBeUndefined();
});
