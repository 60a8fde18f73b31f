import { describe, expect, it } from 'vitest';
import type { Call } from '../../../../src/panel/scheduler/call.ts';
import { CallHistory } from '../../../../src/panel/scheduler/call-history.ts';

const NOW = 1_000_000;
const MINUTE_MS = 60_000;

const call = (one: Partial<Call> = {}): Call => ({
  path: 'websocket',
  server: 's',
  node: () => 'n',
  deadline: 0,
  tries: () => undefined,
  ...one,
});

describe('the last minute’s calls', () => {
  it.each<[string, Call, boolean, readonly [trials: number, lists: number, others: number]]>([
    ['a connect', call(), false, [0, 0, 0]],
    ['a connect that probably fails', call(), true, [1, 0, 0]],
    ['a poll', call({ path: 'resources' }), false, [0, 0, 1]],
    ['a poll that tries its node', call({ path: 'resources', tries: () => 'polls n' }), true, [1, 0, 0]],
    ['backups', call({ path: 'backups' }), false, [0, 1, 1]],
    ['the server list', call({ path: 'listing' }), false, [0, 0, 1]],
  ])('count %s', (_what, one, isTrial, counts) => {
    const history = new CallHistory();
    history.started(one, isTrial, NOW);
    const { trials, lists, others } = history;
    expect([trials, lists, others].map((window) => window.count(NOW))).toEqual(counts);
  });

  it('run until they have ended', () => {
    const history = new CallHistory();
    const running = history.started(call(), false, NOW);
    expect([...history.running]).toEqual([running]);
    history.ended(running, false, NOW + 1);
    expect(history.running.size).toBe(0);
  });
});

describe('a server’s credential calls', () => {
  it('count from their ends, because the panel may count them as late, and are two at most', () => {
    const history = new CallHistory();
    const first = history.started(call(), false, NOW);
    expect(history.tokensAt('s')).toEqual([NOW]);
    history.ended(first, false, NOW + 20_000);
    expect(history.tokensAt('s')).toEqual([NOW + 20_000]);
    for (const at of [NOW + 21_000, NOW + 22_000]) history.started(call(), false, at);
    expect(history.tokensAt('s')).toEqual([NOW + 21_000, NOW + 22_000]);
    expect(history.tokensAt('another')).toEqual([]);
  });

  it('are forgotten a minute later, when another server makes one', () => {
    const history = new CallHistory();
    history.started(call(), false, NOW);
    history.started(call({ server: 'another' }), false, NOW + MINUTE_MS - 1);
    expect(history.tokensAt('s')).toEqual([NOW]);
    history.started(call({ server: 'another' }), false, NOW + MINUTE_MS);
    expect(history.tokensAt('s')).toEqual([]);
  });

  it('don’t count with another key if the panel rejected the old one', () => {
    const history = new CallHistory();
    history.ended(history.started(call(), true, NOW), true, NOW);
    history.ended(history.started(call(), true, NOW), false, NOW + 1);
    history.started(call({ path: 'backups' }), false, NOW + 1);
    history.keyChanged();
    expect(history.tokensAt('s')).toEqual([NOW + 1]);
    expect([
      history.trials.count(NOW + 1),
      history.lists.count(NOW + 1),
      history.others.count(NOW + 1),
    ]).toEqual([0, 0, 1]);
  });
});

describe('a node has responded', () => {
  it('unless a poll that began after the last response has got none', () => {
    const history = new CallHistory();
    history.polled('n', NOW, true, NOW + 5);
    history.polled('n', NOW + 4, false, NOW + 6);
    expect(history.respondedAt.get('n')).toBe(NOW + 5);
    history.polled('n', NOW + 6, false, NOW + 9);
    expect(history.respondedAt.has('n')).toBe(false);
    history.polled('n', NOW + 9, true, NOW + 10);
    expect(history.respondedAt.get('n')).toBe(NOW + 10);
  });

  it('until no server is on it any more', () => {
    const history = new CallHistory();
    history.polled('n', NOW, true, NOW);
    history.streamed('n', true);
    history.keepNodes(new Set(['n', undefined]));
    expect([history.respondedAt.has('n'), history.hasStreamed('n')]).toEqual([true, true]);
    history.keepNodes(new Set(['m', undefined]));
    expect([history.respondedAt.has('n'), history.hasStreamed('n')]).toEqual([false, false]);
  });
});

describe('first connects of a node', () => {
  it('are under way until they end, in the order of their starts', () => {
    const history = new CallHistory();
    for (const [index, server] of ['a', 'b', 'c'].entries())
      history.started(call({ server }), false, NOW + index);
    expect(history.connecting('n')).toEqual([NOW, NOW + 1, NOW + 2]);
    expect(history.connectEnded('b')).toBe('n');
    expect(history.connectEnded('b')).toBeUndefined();
    expect(history.connecting('n')).toEqual([NOW, NOW + 2]);
  });

  it('of a server that starts another one are one', () => {
    const history = new CallHistory();
    for (const at of [NOW, NOW + 5]) history.started(call(), false, at);
    expect(history.connecting('n')).toEqual([NOW + 5]);
  });

  it('are forgotten after three seconds, when another begins, even if nobody tells of their end', () => {
    const history = new CallHistory();
    history.started(call({ server: 'a' }), false, NOW);
    history.started(call({ server: 'b' }), false, NOW + 1);
    history.started(call({ server: 'c' }), false, NOW + 3_000);
    expect(history.connecting('n')).toEqual([NOW + 1, NOW + 3_000]);
    expect([history.connectEnded('a'), history.connectEnded('b')]).toEqual([undefined, 'n']);
  });

  it('are forgotten with the last server of the node', () => {
    const history = new CallHistory();
    history.started(call(), false, NOW);
    history.keepNodes(new Set(['n']));
    expect(history.connecting('n')).toEqual([NOW]);
    history.keepNodes(new Set(['m']));
    expect([history.connecting('n'), history.connectEnded('s')]).toEqual([[], undefined]);
  });

  it('end under the node under which they began', () => {
    const history = new CallHistory();
    let node = 'n';
    history.started(call({ node: () => node }), false, NOW);
    node = 'another';
    expect(history.connectEnded('s')).toBe('n');
    expect([history.connecting('n'), history.connecting('another')]).toEqual([[], []]);
  });

  it.each<[string, Partial<Call>]>([
    ['a renewal', { isRenewal: true }],
    ['a poll', { path: 'resources' }],
    ['a server whose node isn’t known', { node: () => undefined }],
  ])('are none of %s', (_what, one) => {
    const history = new CallHistory();
    history.started(call(one), false, NOW);
    expect([history.connecting('n'), history.connectEnded('s')]).toEqual([[], undefined]);
  });

  it('are none of a node that has streamed since its sockets were with an outage', () => {
    const history = new CallHistory();
    history.streamed('n', true);
    history.started(call(), false, NOW);
    expect([history.hasStreamed('n'), history.connecting('n')]).toEqual([true, []]);
    history.streamed('n', false);
    history.started(call(), false, NOW);
    expect([history.hasStreamed('n'), history.connecting('n')]).toEqual([false, [NOW]]);
  });
});
