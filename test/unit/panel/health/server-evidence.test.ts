import { describe, expect, it } from 'vitest';
import { NEVER } from '../../../../src/domain/clock.ts';
import type { CauseCode } from '../../../../src/domain/problems.ts';
import type { Outcome } from '../../../../src/panel/health/outcome.ts';
import { type Facts, ServerEvidence } from '../../../../src/panel/health/server-evidence.ts';
import { Tallies } from '../../../../src/panel/health/tallies.ts';
import { pathSubject, pollsSubject, type Subject, socketsSubject } from '../../../../src/panel/subjects.ts';
import { outcomeOf } from '../../../support/panel-outcomes.ts';

function setUp(facts: { readonly provenAt?: number; readonly explainedUntil?: number } = {}) {
  const { provenAt = NEVER, explainedUntil = NEVER } = facts;
  const tallies = new Tallies(() => false);
  const all: Facts = { tallies, provenAt, explainedUntil: () => explainedUntil };
  /** The number of servers and failures that count for the subject. */
  const counts = (subject: Subject) => {
    const { servers = 0, counted = 0, failed = 0, worksAt = NEVER } = tallies.find(subject) ?? {};
    return { servers, counted, failed, works: worksAt !== NEVER };
  };
  return { tallies, counts, evidence: () => new ServerEvidence(all) };
}

const NONE = { servers: 0, counted: 0, failed: 0, works: false };
const FAILED = { servers: 1, counted: 1, failed: 1, works: false };
const cut: Outcome = outcomeOf(['resources', 'a1', 'timeout', 5]);

describe('a call', () => {
  it('that works proves so for its path and its node', () => {
    const { counts, evidence } = setUp();
    evidence().call('resources', 'a', outcomeOf(['resources', 'a1', 'works']));
    const works = { servers: 1, counted: 1, failed: 0, works: true };
    expect([counts(pathSubject('resources')), counts(pollsSubject('a'))]).toEqual([works, works]);
    expect(counts('panel')).toEqual(NONE);
  });

  it.each<[string, { provenAt?: number; explainedUntil?: number }, number, number]>([
    ['may be the panel’s if nothing worked since its start', { provenAt: cut.startedAt - 1 }, 1, 1],
    ['is not the panel’s if a call worked since its start', { provenAt: cut.startedAt }, 1, 0],
    ['proves nothing if a larger outage explains it', { explainedUntil: cut.at }, 0, 0],
    ['counts after the end of the larger outage', { explainedUntil: cut.at - 1 }, 1, 1],
  ])('that fails %s', (_what, facts, ofPath, ofPanel) => {
    const { counts, evidence } = setUp(facts);
    evidence().call('resources', 'a', cut);
    expect([counts(pathSubject('resources')).failed, counts('panel').failed]).toEqual([ofPath, ofPanel]);
  });

  it.each([
    ['proves nothing against the panel', 'if a larger outage explains it', 0, 0],
    ['may be the panel’s', 'after the end of the larger outage', -1, 1],
  ])('that the panel refuses %s %s', (_what, _when, laterMs, ofPanel) => {
    const refused = outcomeOf(['resources', 'a1', 'unauthorized', 5]);
    const { counts, evidence } = setUp({ explainedUntil: refused.at + laterMs });
    evidence().call('resources', 'a', refused);
    expect(counts('panel').failed).toBe(ofPanel);
  });

  it('of a server that is blocked alone isn’t asked at its node', () => {
    const { counts, evidence } = setUp();
    evidence().call('resources', 'a', outcomeOf(['resources', 'a1', 'suspended']));
    expect(counts(pollsSubject('a'))).toEqual({ ...NONE, servers: 1 });
  });

  it.each<[string, string, CauseCode, boolean]>([
    ['finds its server missing', 'contradicts no failure', 'not_found', false],
    ['finds its server suspended', 'contradicts no failure', 'suspended', false],
    ['shows that the panel asked a node', 'contradicts failures', 'node_unreachable', true],
  ])('that %s ends the outage of its path, and %s', (_what, _does, cause, contradicts) => {
    const { tallies, evidence } = setUp();
    const outcome = outcomeOf(['resources', 'a1', cause, 5]);
    evidence().call('resources', 'a', outcome);
    const { worksAt, contradictedAt } = tallies.of(pathSubject('resources'));
    expect(worksAt).toBe(outcome.startedAt);
    expect(contradictedAt).toBe(contradicts ? outcome.startedAt : NEVER);
  });

  it('for credentials groups denied consoles by cause, and concerns no node', () => {
    const { tallies, counts, evidence } = setUp();
    for (const cause of ['no_console_permission', 'unauthorized'] as const)
      evidence().call('websocket', 'a', outcomeOf(['websocket', 'a1', cause]));
    expect(tallies.of('consoles').failingGroups).toBe(2);
    expect(counts(socketsSubject('a'))).toEqual(NONE);
  });
});

describe('a socket', () => {
  const refused = outcomeOf(['sockets', 'a1', 'node_connection']);
  const streams = outcomeOf(['sockets', 'a1', 'streams']);

  it('counts for its node, and for the node that it moves to', () => {
    const { counts, evidence } = setUp();
    const one = evidence();
    one.socket('a', refused, undefined);
    expect(counts(socketsSubject('a'))).toEqual(FAILED);
    one.socket('b', refused, undefined);
    expect([counts(socketsSubject('a')), counts(socketsSubject('b'))]).toEqual([NONE, FAILED]);
  });

  it('that streams counts as a granted console until it ends', () => {
    const { counts, evidence } = setUp();
    const one = evidence();
    one.socket('a', streams, streams);
    expect(counts('consoles')).toEqual({ servers: 1, counted: 0, failed: 0, works: true });
    one.socket('a', refused, undefined);
    expect(counts('consoles')).toEqual(NONE);
  });
});

it('what is withdrawn counts nowhere', () => {
  const { counts, evidence } = setUp();
  const one = evidence();
  one.call('resources', 'a', cut);
  one.withdraw();
  for (const subject of [pathSubject('resources'), pollsSubject('a'), 'panel'] as const)
    expect(counts(subject)).toEqual(NONE);
});
