import { describe, expect, it } from 'vitest';
import { NodeAnswers } from '../../../src/panel/node-answers.ts';

const SERVERS = ['a', 'b', 'c', 'd'];

/** Nodes that failed to answer for these servers. */
function failedFor(servers: readonly string[]): NodeAnswers {
  const nodes = new NodeAnswers(25_000);
  for (const server of servers) {
    const poll = new AbortController();
    nodes.began(poll, { server, trust: 'new', startedAt: 0 });
    nodes.failed(poll, 20_000);
  }
  return nodes;
}

describe('a server that is removed from the fleet', () => {
  it('no longer counts as a suspect', () => {
    const nodes = failedFor(SERVERS);
    expect(nodes.hasManySuspects).toBe(true);
    nodes.forget('a');
    expect(nodes.hasManySuspects).toBe(false);
  });

  it('is new if it is added again', () => {
    const nodes = failedFor(SERVERS);
    expect(nodes.trustIn('a')).toBe('suspect');
    nodes.forget('a');
    expect(nodes.trustIn('a')).toBe('new');
    expect(nodes.trustIn('b')).toBe('suspect');
  });
});
