import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Call } from '../../../../src/panel/scheduler/call.ts';
import { RateLimit } from '../../../../src/panel/scheduler/rate-limit.ts';
import { Scheduler, type SchedulerOptions } from '../../../../src/panel/scheduler/scheduler.ts';
import { WINDOW_MS } from '../../../../src/panel/scheduler/sliding-window.ts';
import { SEATED_MS } from '../../../../src/panel/scheduler/start-rules.ts';
import { type Path, pathSubject, type Subject, socketsSubject } from '../../../../src/panel/subjects.ts';
import { type Deferred, deferred } from '../../../support/deferred.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const NEVER = Number.POSITIVE_INFINITY;
const REJECTED = new Error('the key is refused');

interface Made {
  readonly server: string;
  readonly at: number;
  readonly signal: AbortSignal;
}

interface Begun {
  readonly end: Deferred<string>;
  readonly scope: AbortController;
  readonly result: Promise<string>;
}

type Holds = SchedulerOptions['holds'];

/** A scheduler with calls whose ends the test determines. */
function scheduled(perMinute = 1_000, holds: Holds = () => undefined, inTurn?: SchedulerOptions['inTurn']) {
  const clock = new ManualClock();
  const limit = new RateLimit(clock, { pinnedPerMinute: perMinute }, (server) =>
    scheduler.limitChanged(server),
  );
  const isRejected = (error: unknown) => error === REJECTED;
  const isBlamed = () => false;
  const scheduler = new Scheduler({ clock, panel: 'main', limit, isRejected, holds, isBlamed, inTurn });
  const made: Made[] = [];
  /** Starts a call; by default, for a token of a server without a known node. */
  const run = (server: string, one: Partial<Call> = {}): Begun => {
    const call: Call = {
      path: 'websocket',
      server,
      node: () => undefined,
      deadline: 0,
      tries: () => undefined,
      ...one,
    };
    const end = deferred<string>();
    // The call may be rejected before it starts.
    end.promise.catch(() => undefined);
    const scope = new AbortController();
    const result = scheduler.run(call, scope.signal, (signal) => {
      made.push({ server, at: clock.now(), signal });
      return end.promise;
    });
    result.catch(() => undefined);
    return { end, scope, result };
  };
  return { clock, limit, scheduler, made, run, started: () => made.map(({ server }) => server) };
}

const settled = ({ clock }: ReturnType<typeof scheduled>) => clock.advance(0);

/** A scheduler with eight calls that occupy all places until they end. */
function busy(...args: Parameters<typeof scheduled>) {
  const world = scheduled(...args);
  const first = Array.from({ length: 8 }, (_, index) => world.run(`busy ${index}`));
  return { ...world, first, others: () => world.started().slice(8) };
}

const poll = (node: string, one: Partial<Call> = {}): Partial<Call> => ({
  path: 'resources',
  node: () => node,
  ...one,
});

describe('a call', () => {
  it('starts at once, and resolves with its result', async () => {
    const world = scheduled();
    const { end, result } = world.run('a');
    await settled(world);
    expect(world.started()).toEqual(['a']);
    end.resolve('the result');
    await expect(result).resolves.toBe('the result');
  });

  it('rejects with its error, and leaves its place', async () => {
    const world = busy();
    world.run('a');
    await settled(world);
    expect(world.others()).toEqual([]);
    world.first[0]?.end.reject(new Error('no'));
    await expect(world.first[0]?.result).rejects.toThrow('no');
    await settled(world);
    expect(world.others()).toEqual(['a']);
  });

  it('with the earliest deadline starts when a place is free, of those that wait', async () => {
    const world = busy();
    for (const [server, deadline] of [
      ['c', 3],
      ['a', 1],
      ['b', 2],
      ['d', 4],
    ] as const)
      world.run(server, { deadline });
    for (const [index, expected] of ['a', 'b', 'c', 'd'].entries()) {
      world.first[index]?.end.resolve('');
      await settled(world);
      expect(world.others().at(-1)).toBe(expected);
    }
    expect(world.scheduler.waiting).toBe(0);
  });

  it('that has started begins in its turn, and holds its place until then', async () => {
    const turns: (() => void)[] = [];
    const world = scheduled(1_000, undefined, (begin) => turns.push(begin));
    for (let index = 0; index < 10; index += 1) world.run(`s${index}`).end.resolve('');
    await settled(world);
    expect([world.started(), turns.length, world.scheduler.waiting]).toEqual([[], 8, 2]);
    for (const begin of turns.splice(0, 2)) begin();
    await settled(world);
    expect([world.started(), turns.length, world.scheduler.waiting]).toEqual([['s0', 's1'], 8, 0]);
  });

  it('is one of eight in flight at most', async () => {
    const world = scheduled();
    const calls = Array.from({ length: 20 }, (_, index) => world.run(`s${index}`));
    await settled(world);
    expect([world.made.length, world.scheduler.waiting]).toEqual([8, 12]);
    for (const { end } of calls.slice(0, 5)) end.resolve('');
    await settled(world);
    expect([world.made.length, world.scheduler.waiting]).toEqual([13, 7]);
  });

  it('starts beside eight others as a canary, and so do others when that has ended', async () => {
    const world = busy();
    world.run('a');
    const canary = world.run('canary', { path: 'listing', tries: () => 'panel' });
    await settled(world);
    expect(world.others()).toEqual(['canary']);
    canary.end.resolve('');
    await settled(world);
    expect(world.others()).toEqual(['canary']);
    world.first[0]?.end.resolve('');
    await settled(world);
    expect(world.others()).toEqual(['canary', 'a']);
  });

  it('starts beside a canary as if that weren’t there', async () => {
    const world = scheduled();
    world.run('canary', { path: 'listing', tries: () => 'panel' });
    for (let index = 0; index < 10; index += 1) world.run(`s${index}`);
    await settled(world);
    expect(world.made).toHaveLength(1 + 8);
  });

  it('that is a poll leaves its place after three seconds, while its result still arrives', async () => {
    const world = scheduled();
    const polls = Array.from({ length: 8 }, (_, index) => world.run(`p${index}`, poll(`n${index}`)));
    for (let index = 0; index < 8; index += 1) world.scheduler.polled(`n${index}`, 0, true);
    await settled(world);
    world.run('a');
    await world.clock.advance(2_999);
    expect(world.started()).not.toContain('a');
    await world.clock.advance(1);
    expect(world.started()).toContain('a');
    polls[0]?.end.resolve('late');
    await expect(polls[0]?.result).resolves.toBe('late');
  });

  it('that is no poll keeps its place for as long as it takes', async () => {
    const world = busy();
    world.run('a');
    await world.clock.advance(60_000);
    expect(world.others()).toEqual([]);
  });
});

describe('a call that is no longer needed', () => {
  it('rejects at once with the signal’s reason while it waits, and never starts', async () => {
    const world = busy();
    const { scope, result } = world.run('a');
    await settled(world);
    scope.abort(new Error('not needed'));
    await expect(result).rejects.toThrow('not needed');
    expect(world.scheduler.waiting).toBe(0);
    for (const { end } of world.first) end.resolve('');
    await settled(world);
    expect(world.others()).toEqual([]);
  });

  it('aborts its own signal while it runs', async () => {
    const world = scheduled();
    const { scope, end, result } = world.run('a');
    await settled(world);
    const reason = new Error('not needed');
    scope.abort(reason);
    expect(world.made[0]?.signal.reason).toBe(reason);
    end.reject(reason);
    await expect(result).rejects.toBe(reason);
  });

  it('rejects if its signal has aborted before', async () => {
    const world = scheduled();
    const call: Call = {
      path: 'websocket',
      server: 'a',
      node: () => undefined,
      deadline: 0,
      tries: () => undefined,
    };
    const make = () => Promise.resolve('made');
    const result = world.scheduler.run(call, AbortSignal.abort(new Error('never needed')), make);
    await expect(result).rejects.toThrow('never needed');
    await settled(world);
    expect([world.scheduler.waiting, world.limit.usedLastMinute]).toEqual([0, 0]);
  });

  it('lets the next one start', async () => {
    const world = busy();
    const one = world.run('a', { deadline: 1 });
    world.run('b', { deadline: 2 });
    one.scope.abort(new Error('not needed'));
    world.first[0]?.end.resolve('');
    await settled(world);
    expect(world.others()).toEqual(['b']);
  });
});

describe('the end', () => {
  it('rejects what waits and what comes, aborts what runs, and leaves no timer', async () => {
    const world = busy();
    const waiting = world.run('a');
    await settled(world);
    world.scheduler.stop();
    await expect(waiting.result).rejects.toThrow(
      'panel main: no more calls, because the exporter is stopping',
    );
    expect(world.made.every(({ signal }) => signal.aborted)).toBe(true);
    await expect(world.run('b').result).rejects.toThrow('no more calls');
    for (const { end } of world.first) end.reject(new Error('aborted'));
    await world.clock.advance(120_000);
    expect(world.others()).toEqual([]);
    expect(world.clock.pending).toBe(0);
  });
});

describe('what is held', () => {
  /** A hold of all calls that need these subjects. The test ends it. */
  function holding(...subjects: Subject[]) {
    const held = new Set(subjects);
    const holds: Holds = ({ path, node, tries }) => {
      const name = node();
      const needed: readonly Subject[] = [
        'panel',
        pathSubject(path),
        ...(name === undefined ? [] : [socketsSubject(name)]),
      ];
      const subject = needed.find((one) => held.has(one) && one !== tries());
      return subject && { subject, until: NEVER };
    };
    const world = scheduled(1_000, holds);
    const ends = (subject: Subject, node?: string) => {
      held.delete(subject);
      world.scheduler.holdChanged(subject, node);
    };
    return { ...world, held, ends };
  }

  it('starts when that ends, and not before', async () => {
    const world = holding('panel', pathSubject('backups'), socketsSubject('n'));
    world.run('a');
    world.run('b', { path: 'backups' });
    world.run('c', { node: () => 'n' });
    await world.clock.advance(600_000);
    expect(world.started()).toEqual([]);
    world.ends('panel');
    await settled(world);
    expect(world.started()).toEqual(['a']);
    world.ends(socketsSubject('n'), 'n');
    await settled(world);
    expect(world.started()).toEqual(['a', 'c']);
    world.ends(pathSubject('backups'));
    await settled(world);
    expect(world.started()).toEqual(['a', 'c', 'b']);
  });

  it('starts when its node turns out to be another, or it was chosen to try that', async () => {
    const world = holding(socketsSubject('n'));
    let [node, tries]: [string, Subject | undefined] = ['n', undefined];
    world.run('a', { node: () => node });
    world.run('b', { node: () => 'n', tries: () => tries });
    await settled(world);
    expect(world.started()).toEqual([]);
    node = 'another';
    world.scheduler.moved('a');
    await settled(world);
    expect(world.started()).toEqual(['a']);
    tries = socketsSubject('n');
    world.scheduler.moved('b');
    await settled(world);
    expect(world.started()).toEqual(['a', 'b']);
  });

  it('starts when its node’s outage ends, though the node wasn’t known when it began to wait', async () => {
    let [node, isHeld]: [string | undefined, boolean] = [undefined, true];
    const world = busy(1_000, (call) =>
      isHeld && call.node() === 'n' ? { subject: socketsSubject('n'), until: NEVER } : undefined,
    );
    world.run('a', { node: () => node });
    await settled(world);
    node = 'n';
    world.first[0]?.end.resolve('');
    await settled(world);
    expect(world.others()).toEqual([]);
    isHeld = false;
    world.scheduler.holdChanged(socketsSubject('n'), 'n');
    await settled(world);
    expect(world.others()).toEqual(['a']);
  });

  it('until an instant starts then, by itself', async () => {
    let until = 0;
    const world = scheduled(1_000, () =>
      world.clock.now() < until ? { subject: 'panel', until } : undefined,
    );
    until = world.clock.now() + 3_000;
    world.run('a');
    await world.clock.advance(2_999);
    expect(world.started()).toEqual([]);
    await world.clock.advance(1);
    expect(world.started()).toEqual(['a']);
  });
});

describe('the rate', () => {
  it('lets the next call start when the first of the window is a minute old', async () => {
    const world = scheduled(2);
    for (const server of ['a', 'b', 'c']) world.run(server).end.resolve('');
    await world.clock.advance(WINDOW_MS - 1);
    expect(world.started()).toEqual(['a', 'b']);
    await world.clock.advance(1);
    expect(world.started()).toEqual(['a', 'b', 'c']);
  });

  it('lets calls start at once when more are allowed', async () => {
    const world = scheduled(1);
    for (const server of ['a', 'b', 'c']) world.run(server);
    await settled(world);
    expect(world.started()).toEqual(['a']);
    world.limit.pin({ pinnedPerMinute: 2 });
    await settled(world);
    expect(world.started()).toEqual(['a', 'b']);
  });

  it('lets calls start when a pause is over, or a response proves that it is', async () => {
    const world = scheduled();
    world.limit.throttled('websocket', 'x', {}, 7_000);
    world.run('a');
    await world.clock.advance(6_999);
    expect(world.started()).toEqual([]);
    await world.clock.advance(1);
    expect(world.started()).toEqual(['a']);
    world.run('b');
    await settled(world);
    expect(world.started()).toEqual(['a']);
    world.limit.answered('websocket', 'a');
    await settled(world);
    expect(world.started()).toEqual(['a', 'b']);
  });

  it('lets calls start when the pause of their server’s tokens is over, or a response proves that it is', async () => {
    const world = scheduled();
    world.limit.throttled('websocket', 'a', { limitPerMinute: 5 }, 7_000);
    world.run('a');
    world.run('b');
    await settled(world);
    expect(world.started()).toEqual(['b']);
    world.limit.answered('websocket', 'b');
    await settled(world);
    expect(world.started()).toEqual(['b']);
    world.limit.answered('websocket', 'a');
    await settled(world);
    expect(world.started()).toEqual(['b', 'a']);
  });

  it('looks at no call that waits for its own server’s limit when another’s changes', async () => {
    let looks = 0;
    const world = scheduled(1_000, () => {
      looks += 1;
      return undefined;
    });
    for (let server = 0; server < 20; server += 1)
      for (let time = 0; time < 3; time += 1) world.run(`a${server}`).end.resolve('');
    await settled(world);
    expect([world.made.length, world.scheduler.waiting]).toEqual([40, 20]);
    looks = 0;
    world.limit.throttled('websocket', 'b', { limitPerMinute: 5 }, 7_000);
    await settled(world);
    world.limit.answered('websocket', 'b');
    await settled(world);
    expect(looks).toBe(0);
    await world.clock.advance(WINDOW_MS);
    expect(world.scheduler.waiting).toBe(0);
  });

  it('lets a call start behind those of a thousand nodes that are held, by itself', async () => {
    let isDown = true;
    const world = scheduled(1_000, (call) => {
      if (!isDown && call.server === 'free') return undefined;
      return { subject: isDown ? 'panel' : pathSubject('websocket'), until: NEVER };
    });
    for (let node = 0; node < 1_000; node += 1) world.run(`a${node}`, { node: () => `${node}` });
    world.run('free', { deadline: 5_000 });
    await settled(world);
    isDown = false;
    world.scheduler.holdChanged('panel', undefined);
    await world.clock.advance(1);
    expect(world.started()).toEqual(['free']);
  });

  it('gives a server two credential calls a minute, and others meanwhile', async () => {
    const world = scheduled();
    for (let time = 0; time < 3; time += 1) world.run('a').end.resolve('');
    world.run('b');
    await settled(world);
    expect([world.started(), world.scheduler.hasTokenRoom('a'), world.scheduler.hasTokenRoom('b')]).toEqual([
      ['a', 'a', 'b'],
      false,
      true,
    ]);
    await world.clock.advance(WINDOW_MS);
    expect(world.started()).toEqual(['a', 'a', 'b', 'a']);
  });

  it('lets calls of other paths start while those of a path hang, and no more than eight of that path', async () => {
    const world = scheduled();
    const hanging = Array.from({ length: 9 }, (_, index) => world.run(`token ${index}`));
    world.run('poll', { path: 'resources' });
    await settled(world);
    expect(world.started()).toHaveLength(8);
    await world.clock.advance(SEATED_MS);
    expect(world.started().slice(8)).toEqual(['poll']);
    hanging[0]?.end.resolve('');
    await settled(world);
    expect(world.started().slice(8)).toEqual(['poll', 'token 8']);
  });

  it.each<[string, Path, number | undefined, boolean]>([
    ['the panel’s limit for that server', 'websocket', 5, true],
    ['the account’s limit, which delays its polls as well', 'websocket', 60, false],
    ['the path’s limit, which is a problem of all servers', 'websocket', undefined, false],
    ['another path’s limit', 'resources', undefined, false],
  ])(
    'delays a server’s token during a pause that is due to %s: %s of %s, %s',
    async (_what, path, limitPerMinute, isDelayed) => {
      const { clock, limit, scheduler } = scheduled();
      const state = () => ['a', 'b'].map((one) => [scheduler.hasTokenRoom(one), scheduler.delaysToken(one)]);
      limit.throttled(path, 'a', { limitPerMinute }, 7_000);
      expect(state()).toEqual([
        [!isDelayed, isDelayed],
        [true, false],
      ]);
      await clock.advance(7_000);
      expect(state()).toEqual([
        [true, false],
        [true, false],
      ]);
    },
  );

  it('doesn’t delay a server’s token that is under way', async () => {
    const world = scheduled();
    const delays = () => world.scheduler.delaysToken('a');
    world.run('a').end.resolve('');
    const second = world.run('a');
    await settled(world);
    expect([world.scheduler.hasTokenRoom('a'), delays()]).toEqual([false, false]);
    world.run('a');
    await settled(world);
    expect(delays()).toBe(false);
    second.end.resolve('');
    await settled(world);
    expect(delays()).toBe(true);
    await world.clock.advance(WINDOW_MS);
    expect(delays()).toBe(false);
  });

  it('is that of another account once the key has changed, which doesn’t wait for calls that were rejected', async () => {
    const world = scheduled(2);
    for (let time = 0; time < 2; time += 1) world.run('a').end.reject(REJECTED);
    await settled(world);
    world.run('a');
    await settled(world);
    expect(world.made).toHaveLength(2);
    const other = new RateLimit(world.clock, { pinnedPerMinute: 5 });
    world.scheduler.keyChanged(other);
    await settled(world);
    expect([world.made.length, other.usedLastMinute, world.limit.usedLastMinute]).toEqual([3, 1, 2]);
    world.limit.throttled('listing', '', { limitPerMinute: 60 }, 7_000);
    world.run('b');
    await settled(world);
    expect(world.started().at(-1)).toBe('b');
  });

  it('has room for a tenth of the calls as trials, and in a full window for one', async () => {
    const world = scheduled(20);
    const rooms = [world.scheduler.trialRoom];
    for (let call = 0; call < 20; call += 1) world.run(`s${call}`).end.resolve('');
    await settled(world);
    rooms.push(world.scheduler.trialRoom);
    await world.clock.advance(WINDOW_MS);
    expect([...rooms, world.scheduler.trialRoom]).toEqual([2, 1, 2]);
  });

  it('leaves a tenth to retries', async () => {
    const world = scheduled(20);
    expect(world.scheduler.trialRoom).toBe(2);
    for (const server of ['a', 'b', 'c', 'd']) world.run(server, { isRetry: () => true }).end.resolve('');
    world.run('e').end.resolve('');
    await settled(world);
    expect(world.started()).toEqual(['a', 'b', 'e']);
    expect(world.scheduler.trialRoom).toBe(0);
    await world.clock.advance(WINDOW_MS);
    expect(world.started()).toEqual(['a', 'b', 'e', 'c', 'd']);
  });

  it.each([
    ['came', false],
    ['waited', true],
  ])(
    'leaves no retry behind others’ that %s when its server’s own pause is over: it hasn’t failed',
    async (_when, waits) => {
      const world = scheduled(20);
      const isRetry = () => true;
      for (const server of ['a', 'b', 'c']) world.run(server, { isRetry }).end.resolve('');
      if (waits) world.run('paused', { isRetry });
      world.limit.throttled('websocket', 'paused', { limitPerMinute: 5 }, 7_000);
      if (!waits) world.run('paused', { isRetry });
      await world.clock.advance(6_900);
      expect(world.started()).toEqual(['a', 'b']);
      await world.clock.advance(200);
      expect(world.started()).toEqual(['a', 'b', 'paused']);
    },
  );

  it('never lets more calls start within a minute than are allowed, whatever is asked for', async () => {
    const anyCall = fc.record({
      waitMs: fc.oneof(fc.nat(50), fc.nat(20_000)),
      tookMs: fc.nat(30_000),
      server: fc.nat(9).map(String),
      path: fc.constantFrom<Path>('websocket', 'resources', 'backups', 'listing'),
      isRetry: fc.boolean(),
      isCanary: fc.boolean(),
      fails: fc.boolean(),
      node: fc.constantFrom('n1', 'n2', undefined),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 12 }),
        fc.array(anyCall, { maxLength: 40 }),
        async (perMinute, calls) => {
          const world = scheduled(perMinute);
          const { clock, scheduler } = world;
          for (const { waitMs, tookMs, server, path, isRetry, isCanary, fails, node } of calls) {
            await clock.advance(waitMs);
            const { end } = world.run(server, {
              path,
              node: () => node,
              isRetry: () => isRetry,
              tries: () => (isCanary ? 'panel' : undefined),
            });
            clock.schedule(tookMs, () => (fails ? end.reject(new Error('no')) : end.resolve('')));
            if (node !== undefined) scheduler.polled(node, clock.now(), !fails);
          }
          // All calls were made, so no call waits forever.
          await clock.advance(60 * WINDOW_MS);
          expect([world.made.length, scheduler.waiting]).toEqual([calls.length, 0]);
          const starts = world.made.map(({ at }) => at);
          for (const end of starts)
            expect(starts.filter((at) => at > end - WINDOW_MS && at <= end).length).toBeLessThanOrEqual(
              perMinute,
            );
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe('a node that nobody has connected to', () => {
  const connect = (one: Partial<Call> = {}): Partial<Call> => ({ node: () => 'n', ...one });

  it('gets six connects at a time, and the next when one has ended or taken three seconds', async () => {
    const world = scheduled();
    for (let index = 0; index < 12; index += 1)
      world.run(`s${index}`, connect({ deadline: index })).end.resolve('');
    await settled(world);
    expect(world.made).toHaveLength(6);
    world.scheduler.connectEnded('s0', undefined);
    await settled(world);
    expect(world.made).toHaveLength(7);
    await world.clock.advance(3_000);
    expect(world.made).toHaveLength(12);
  });

  it('gets all of them once one streams, until its sockets have an outage', async () => {
    const world = scheduled();
    for (let index = 0; index < 20; index += 1) world.run(`s${index}`, connect()).end.resolve('');
    await settled(world);
    world.scheduler.connectEnded('s0', 'n');
    await settled(world);
    expect(world.made).toHaveLength(20);
    await world.clock.advance(3_000);
    world.scheduler.doubt('n');
    for (let index = 20; index < 40; index += 1) world.run(`s${index}`, connect()).end.resolve('');
    await settled(world);
    expect(world.made).toHaveLength(26);
  });

  it('is one again once no server is on it any more', async () => {
    const world = scheduled();
    world.scheduler.connectEnded('s0', 'n');
    world.scheduler.keepNodes(new Set());
    for (let index = 0; index < 8; index += 1) world.run(`s${index}`, connect()).end.resolve('');
    await settled(world);
    expect(world.made).toHaveLength(6);
  });
});

describe('the backlog', () => {
  it('is there while more waits than a minute carries, connects among it', async () => {
    const world = scheduled(4);
    for (let index = 0; index < 20; index += 1) world.run(`s${index}`).end.resolve('');
    const since = world.clock.now();
    await settled(world);
    expect(world.scheduler.backlog).toEqual({ calls: 16, since });
    await world.clock.advance(WINDOW_MS);
    expect(world.scheduler.backlog).toEqual({ calls: 12, since });
    await world.clock.advance(WINDOW_MS);
    expect(world.scheduler.backlog).toEqual({ calls: 8, since });
    await world.clock.advance(2 * WINDOW_MS);
    expect(world.scheduler.backlog).toBeUndefined();
  });

  it('begins and ends while the window is full', async () => {
    const world = scheduled(4);
    for (let index = 0; index < 4; index += 1) world.run(`before ${index}`).end.resolve('');
    await world.clock.advance(10_000);
    const since = world.clock.now();
    const calls = Array.from({ length: 10 }, (_, index) => world.run(`s${index}`));
    await settled(world);
    expect(world.scheduler.backlog).toEqual({ calls: 10, since });
    for (const { scope } of calls.slice(0, 6)) scope.abort(new Error('no longer needed'));
    await settled(world);
    expect(world.scheduler.backlog).toBeUndefined();
    await world.clock.advance(10_000);
    for (let index = 0; index < 4; index += 1) world.run(`later ${index}`);
    await settled(world);
    expect(world.scheduler.backlog).toEqual({ calls: 8, since: since + 10_000 });
  });

  it('isn’t what is held for another reason as well while the window is full', async () => {
    const world = scheduled(4, ({ server }) =>
      server.startsWith('held') ? { subject: socketsSubject('n'), until: NEVER } : undefined,
    );
    for (let index = 0; index < 4; index += 1) world.run(`before ${index}`).end.resolve('');
    await settled(world);
    for (let index = 0; index < 20; index += 1) world.run(`held ${index}`, { node: () => 'n' });
    await settled(world);
    expect(world.scheduler.backlog).toBeUndefined();
    expect(world.scheduler.waiting).toBe(20);
  });

  it.each<[string, number, boolean, Partial<Call>]>([
    ['if a minute carries what waits', 30, false, {}],
    ['if the servers need more than the rate anyway', 4, true, {}],
    ['if nothing of it is a connect', 4, false, { path: 'listing' }],
    ['if all of it is held for another reason', 4, false, { isRetry: () => true }],
  ])('isn’t there %s', async (_what, perMinute, isOverbooked, one) => {
    const world = scheduled(perMinute);
    world.scheduler.isOverbooked = isOverbooked;
    for (let index = 0; index < 20; index += 1) world.run(`s${index}`, one).end.resolve('');
    await world.clock.advance(100);
    expect(world.scheduler.backlog).toBeUndefined();
  });

  it('gives connects at least half of the starts, and all calls their turn', async () => {
    const world = scheduled(16);
    const isPoll = ({ server }: Made) => server.startsWith('poll');
    for (let index = 0; index < 50; index += 1) {
      world.run(`poll ${index}`, { path: 'resources', node: () => `n${index}`, deadline: 0 }).end.resolve('');
      world.run(`connect ${index}`, { deadline: 1_000 }).end.resolve('');
      world.scheduler.polled(`n${index}`, 0, true);
    }
    await world.clock.advance(4 * WINDOW_MS - 1);
    const polls = world.made.filter(isPoll);
    expect([polls.length, world.made.length]).toEqual([32, 64]);
    await world.clock.advance(4 * WINDOW_MS);
    expect(world.made).toHaveLength(100);
  });
});

describe('the decisions for one start', () => {
  it.each([
    ['on 50 nodes', 50],
    ['on a node each', 10_000],
  ])('don’t grow with the number of servers with an outage, %s', async (_what, nodes) => {
    const askedFor = async (servers: number) => {
      let asked = 0;
      const isHeld = (node: string | undefined) => node !== 'works';
      const holds: Holds = ({ node }) => {
        asked += 1;
        const name = node() ?? '';
        return isHeld(name) ? { subject: socketsSubject(name), until: NEVER } : undefined;
      };
      const world = scheduled(1_000, holds);
      for (let index = 0; index < servers; index += 1)
        world.run(`s${index}`, { node: () => `n${index % nodes}` });
      await settled(world);
      expect(world.started()).toEqual([]);
      asked = 0;
      for (let index = 0; index < 20; index += 1)
        world.run(`w${index}`, { node: () => 'works' }).end.resolve('');
      world.scheduler.connectEnded('w0', 'works');
      await settled(world);
      expect(world.made).toHaveLength(20);
      return asked;
    };
    expect(await askedFor(3_000)).toBeLessThanOrEqual(await askedFor(100));
  });
});
