import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Call, isCanary, isConnect } from '../../../../src/panel/scheduler/call.ts';
import { CallLines, type WaitingCall } from '../../../../src/panel/scheduler/call-lines.ts';
import type { Start } from '../../../../src/panel/scheduler/start-rules.ts';
import { NO_SERVER, type Path, pollsSubject, type Subject } from '../../../../src/panel/subjects.ts';

const NOW = 1_000_000;
const NEVER = Number.POSITIVE_INFINITY;
const FREE: Start = { at: Number.NEGATIVE_INFINITY, gate: 'node', why: undefined };

const call = (server: string, deadline = 0, one: Partial<Call> = {}): Call => ({
  path: 'resources',
  server,
  node: () => server[0],
  deadline,
  tries: () => undefined,
  ...one,
});

const held = (at: number, gate: Start['gate']): Start => ({ at, gate, why: 'outage' });
const all = () => true;
const startsNow = () => FREE;

/** Lines with these calls. The id and the job of each call are its server. */
function linesOf(...calls: readonly Call[]): CallLines<string> {
  const lines = new CallLines<string>();
  for (const one of calls) lines.add(one.server, one, one.server);
  return lines;
}

/** Starts all calls that may start now. Returns their servers in this order. */
function started(
  lines: CallLines<string>,
  decideStart: (one: Call) => Start = startsNow,
  now = NOW,
): readonly string[] {
  const servers: string[] = [];
  for (
    let next = lines.next(now, all, decideStart);
    next !== undefined;
    next = lines.next(now, all, decideStart)
  ) {
    servers.push(next.call.server);
    lines.delete(next.id);
  }
  return servers;
}

describe('the next call', () => {
  it('is the one with the earliest deadline, of whatever line', () => {
    const lines = linesOf(
      call('a1', 5),
      call('b1', 3, { path: 'websocket' }),
      call('a2', 4, { isRetry: () => true }),
      call('c1', 1, { path: 'backups' }),
      call('a3', 2),
    );
    expect(started(lines)).toEqual(['c1', 'a3', 'b1', 'a2', 'a1']);
    expect(lines.size).toBe(0);
  });

  it('of several with the same deadline is the one that waits longest', () => {
    expect(started(linesOf(call('b1', 1), call('a1', 1), call('a2', 1)))).toEqual(['b1', 'a1', 'a2']);
  });

  it('is a canary, then a trial, whatever the deadlines are', () => {
    const lines = linesOf(
      call('a1', 0),
      call('a2', 9, { tries: () => pollsSubject('a') }),
      call('a3', 10, { tries: () => 'panel' }),
    );
    expect(started(lines)).toEqual(['a3', 'a2', 'a1']);
  });

  it('is none while the first may not start for want of a place', () => {
    const lines = linesOf(call('a1', 0));
    let asked = 0;
    const decideStart = () => {
      asked += 1;
      return FREE;
    };
    expect(lines.next(NOW, () => false, decideStart)).toBeUndefined();
    expect(asked).toBe(0);
    lines.add('canary', call('a2', 9, { tries: () => 'panel' }), '');
    expect(lines.next(NOW, isCanary, decideStart)?.id).toBe('canary');
  });

  it('is none that was taken out, and the same again while it isn’t', () => {
    const lines = linesOf(call('a1', 0), call('a2', 1));
    const next = () => lines.next(NOW, all, startsNow)?.id;
    expect([next(), next()]).toEqual(['a1', 'a1']);
    lines.delete('a1');
    lines.delete('a1');
    expect([next(), lines.size]).toEqual(['a2', 1]);
  });
});

describe('what is held', () => {
  it.each<[string, Start['gate'], readonly string[]]>([
    ['at a gate holds all lines that stand there', 'gate panel', []],
    ['at its node holds its line', 'node', ['b1']],
    ['at its server holds nothing else', 'server', ['a2', 'b1']],
  ])('%s', (_what, gate, others) => {
    const lines = linesOf(call('a1', 0), call('a2', 1), call('b1', 2));
    const isHeld = (one: Call) =>
      gate === 'gate panel' || (gate === 'node' ? one.node() === 'a' : one.server === 'a1');
    expect(started(lines, (one) => (isHeld(one) ? held(NEVER, gate) : FREE))).toEqual(others);
  });

  it('until an instant may start from then on, which is when to look again', () => {
    const lines = linesOf(call('a1', 0), call('b1', 1), call('c1', 2, { path: 'backups' }));
    const until: Readonly<Record<string, number>> = { a1: NOW + 30, b1: NOW + 10, c1: NOW + 20 };
    const gates = { a1: 'server', b1: 'node', c1: 'gate lists' } as const;
    const decideStart = ({ server }: Call) => held(until[server] ?? 0, gates[server as keyof typeof gates]);
    for (const [server, at] of [
      ['b1', 10],
      ['c1', 20],
      ['a1', 30],
    ] as const) {
      expect(lines.next(NOW + at - 1, all, decideStart)).toBeUndefined();
      expect(lines.nextAt).toBe(NOW + at);
      expect(started(lines, decideStart, NOW + at)).toEqual([server]);
    }
    expect(lines.nextAt).toBe(NEVER);
  });

  it('for good isn’t looked at until that changes', () => {
    const lines = linesOf(
      call('a1'),
      call('b1'),
      call('listing', 0, { path: 'listing', node: () => undefined }),
    );
    const asked: string[] = [];
    let isOpen = false;
    const decideStart = (one: Call) => {
      asked.push(one.server);
      return isOpen ? FREE : held(NEVER, one.path === 'listing' ? 'gate panel' : 'node');
    };
    const next = () => lines.next(NOW, all, decideStart)?.call.server;
    expect([next(), next(), lines.nextAt]).toEqual([undefined, undefined, NEVER]);
    expect(asked).toEqual(['a1', 'b1', 'listing']);
    isOpen = true;
    expect(next()).toBeUndefined();
    lines.opened('gate doubt');
    lines.nodeChanged('c');
    expect(next()).toBeUndefined();
    lines.nodeChanged('b');
    expect(next()).toBe('b1');
    lines.delete('b1');
    lines.opened('gate panel');
    expect(next()).toBe('listing');
    lines.delete('listing');
    // This is only about gates, and doesn't release the call.
    lines.allOpened();
    expect(next()).toBeUndefined();
    lines.nodeChanged('a');
    expect(next()).toBe('a1');
  });

  it('is looked at beside few others at once, however many nodes have lines at a gate that opens', () => {
    const lines = new CallLines<string>();
    for (let node = 0; node < 1_000; node += 1)
      lines.add(`call ${node}`, call(`a${node}`, node, { node: () => `${node}` }), 'job');
    lines.add('free', call('free', 5_000, { path: 'listing' }), 'job');
    const looks: number[] = [];
    let found: string | undefined;
    while (found === undefined && looks.length < 10) {
      let looked = 0;
      found = lines.next(
        0,
        () => true,
        ({ server }) => {
          looked += 1;
          return server === 'free' ? FREE : held(NEVER, 'gate trials');
        },
      )?.id;
      looks.push(looked);
      expect(lines.nextAt).toBe(found === undefined ? 0 : NEVER);
    }
    expect([found, Math.max(...looks) <= 256, looks.reduce((sum, one) => sum + one)]).toEqual([
      'free',
      true,
      1_001,
    ]);
  });

  it('moves to another line when its node becomes known', () => {
    let node: string | undefined;
    const lines = linesOf(call('a1', 0, { node: () => node }));
    const decideStart = (one: Call) => (one.node() === undefined ? held(NEVER, 'node') : FREE);
    expect(started(lines, decideStart)).toEqual([]);
    node = 'a';
    lines.serverChanged('a1');
    lines.serverChanged('nobody');
    expect(started(lines, decideStart)).toEqual(['a1']);
  });
});

describe('what nothing but the rate holds', () => {
  const connect = (server: string, one: Partial<Call> = {}) => call(server, 0, { path: 'websocket', ...one });
  const counts = ({ backlog, connects }: CallLines<string>) => ({ backlog, connects });

  it.each<[string, readonly Call[], number]>([
    ['first connects', [connect('a1'), connect('b1')], 2],
    ['renewals', [connect('a1', { isRenewal: true })], 1],
    ['no retries', [connect('a1', { isRetry: () => true })], 0],
    ['no trials', [connect('a1', { tries: () => 'consoles' })], 0],
    ['no polls', [call('a1')], 0],
  ])('counts as connects %s', (_what, calls, connects) => {
    expect(counts(linesOf(...calls))).toEqual({ backlog: calls.length, connects });
  });

  it.each<[Start['gate'], number]>([
    ['gate panel', 1],
    ['gate shortage', 2],
    ['node', 1],
    ['server', 1],
  ])('counts no call that is held at %s, unless that is the rate', (gate, backlog) => {
    const lines = linesOf(connect('a1'), call('b1', 1, { path: 'backups' }));
    const decideStart = ({ path }: Call) => (path === 'backups' ? FREE : held(NOW + 5, gate));
    lines.next(NOW, all, decideStart);
    expect(counts(lines)).toEqual({ backlog, connects: backlog - 1 });
    lines.next(NOW + 5, all, startsNow);
    expect(counts(lines)).toEqual({ backlog: 2, connects: 1 });
    for (const id of ['a1', 'b1']) lines.delete(id);
    expect(counts(lines)).toEqual({ backlog: 0, connects: 0 });
  });
});

/** A waiting call whose kind, node and trial may change. */
interface Changing {
  readonly call: Call;
  readonly order: number;
  node: string | undefined;
  isRetry: boolean;
  tries: Subject | undefined;
}

interface Added extends Pick<Call, 'path' | 'server' | 'deadline'> {
  readonly id: string;
  readonly isRenewal: boolean;
  readonly parts: Pick<Changing, 'node' | 'isRetry' | 'tries'>;
}

/**
 * A slow, short version of the lines: all waiting calls in one list, and everything that holds
 * them.
 */
class Model {
  readonly waiting = new Map<string, Changing>();
  readonly lines = new CallLines<string>();
  now = NOW;
  /** The ends of holds: by gate, by node and path, and by server. */
  readonly gates = new Map<string, number>();
  readonly nodes = new Map<string, number>();
  readonly servers = new Map<string, number>();
  hasPlace = true;
  #order = 0;

  add({ id, path, server, deadline, isRenewal, parts }: Added): void {
    if (this.waiting.has(id)) return;
    this.#order += 1;
    const one: Changing = {
      ...parts,
      order: this.#order,
      call: {
        path,
        server: path === 'listing' ? NO_SERVER : server,
        deadline,
        isRenewal,
        node: () => one.node,
        isRetry: () => one.isRetry,
        tries: () => one.tries,
      },
    };
    this.waiting.set(id, one);
    this.lines.add(id, one.call, id);
  }

  /** A gate holds all lines behind it, a node all of its calls in a line, and a server one call. */
  readonly decideStart = (one: Call): Start => {
    const node = one.path === 'backups' || one.path === 'listing' ? undefined : one.node();
    const kind = one.tries() !== undefined ? 'tries' : one.isRetry?.() === true ? 'retries' : '';
    const holds: readonly (readonly [number | undefined, Start['gate']])[] = [
      [isCanary(one) ? undefined : this.gates.get('gate panel'), 'gate panel'],
      [this.gates.get(`gate ${one.path}`), `gate ${one.path}`],
      [kind === 'retries' ? this.gates.get('gate trials') : undefined, 'gate trials'],
      [
        isConnect(one) || one.tries() !== undefined ? undefined : this.gates.get('gate shortage'),
        'gate shortage',
      ],
      [node === undefined ? undefined : this.nodes.get(`${node} ${one.path}`), 'node'],
      [this.servers.get(one.server), 'server'],
    ];
    let start = FREE;
    for (const [at, gate] of holds)
      if (at !== undefined && at > this.now && at > start.at) start = held(at, gate);
    return start;
  };

  /** Of all calls that may start now, the first one in the order of starts. */
  get expected(): string | undefined {
    const urgency = (one: Changing) => (isCanary(one.call) ? 0 : one.tries === undefined ? 2 : 1);
    const sorted = [...this.waiting].toSorted(
      ([, one], [, other]) =>
        urgency(one) - urgency(other) || one.call.deadline - other.call.deadline || one.order - other.order,
    );
    const [id, first] = sorted.find(([, { call: one }]) => this.decideStart(one).at <= this.now) ?? [];
    return first === undefined || this.hasPlace || isCanary(first.call) ? id : undefined;
  }

  get next(): WaitingCall<string> | undefined {
    return this.lines.next(this.now, (one) => this.hasPlace || isCanary(one), this.decideStart);
  }

  delete(id: string): void {
    this.waiting.delete(id);
    this.lines.delete(id);
  }

  changed(id: string, parts: Partial<Pick<Changing, 'node' | 'isRetry' | 'tries'>>): void {
    const one = this.waiting.get(id);
    if (one === undefined) return;
    Object.assign(one, parts);
    this.lines.serverChanged(one.call.server);
  }
}

const SERVERS = ['s1', 's2', 's3', 's4', 's5', 's6'];
const NODES = ['a', 'b', 'c'];
const anyServer = fc.constantFrom(...SERVERS);
const anyPath = fc.constantFrom<Path>('websocket', 'resources', 'resources', 'backups', 'listing');
const anyNode = fc.constantFrom(...NODES, undefined);
const anyTries = fc.constantFrom<Subject | undefined>(
  undefined,
  undefined,
  undefined,
  'panel',
  'consoles',
  pollsSubject('a'),
);
/** The duration of a hold in milliseconds: some time, endless, or none. */
const anyFor = fc.constantFrom(1, 5, 20, NEVER, 0);
/** The duration of a hold by a server's own rules, which always ends. */
const anySoon = fc.constantFrom(1, 5, 20, 0);
const anyGate = fc.constantFrom<`gate ${string}`>(
  'gate panel',
  'gate resources',
  'gate websocket',
  'gate trials',
  'gate shortage',
);

interface Step {
  readonly run: (model: Model) => void;
}

/** A step with a name, which failures contain. */
function step<Value>(
  weight: number,
  name: string,
  value: fc.Arbitrary<Value>,
  run: (model: Model, value: Value) => void,
) {
  const arbitrary = value.map((one): Step => {
    const named = { [fc.toStringMethod]: () => `${name} ${fc.stringify(one)}` };
    return Object.assign(named, { run: (model: Model) => run(model, one) });
  });
  return { weight, arbitrary };
}

const anyId = fc.nat(30).map(String);
const anyAdded = fc.record({
  id: anyId,
  path: anyPath,
  server: anyServer,
  deadline: fc.nat(9),
  isRenewal: fc.boolean(),
  parts: fc.record({ node: anyNode, isRetry: fc.boolean(), tries: anyTries }),
});
const anyOfNode = fc.tuple(
  fc.constantFrom(...NODES),
  fc.constantFrom<Path>('websocket', 'resources'),
  anyFor,
);

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  step(8, 'add', anyAdded, (model, added) => model.add(added)),
  step(3, 'delete', anyId, (model, id) => model.delete(id)),
  step(3, 'node of', fc.tuple(anyId, anyNode), (model, [id, node]) => model.changed(id, { node })),
  step(2, 'retry', fc.tuple(anyId, fc.boolean()), (model, [id, isRetry]) => model.changed(id, { isRetry })),
  step(2, 'tries', fc.tuple(anyId, anyTries), (model, [id, tries]) => model.changed(id, { tries })),
  step(4, 'gate', fc.tuple(anyGate, anyFor), (model, [gate, ms]) => {
    model.gates.set(gate, model.now + ms);
    model.lines.opened(gate);
  }),
  step(4, 'node', anyOfNode, (model, [node, path, ms]) => {
    model.nodes.set(`${node} ${path}`, model.now + ms);
    model.lines.nodeChanged(node);
  }),
  // Changes of servers' holds are only noticed when all lines are examined again.
  step(2, 'server', fc.tuple(anyServer, anySoon), (model, [server, ms]) => {
    model.servers.set(server, model.now + ms);
    model.lines.allOpened();
  }),
  step(2, 'place', fc.boolean(), (model, hasPlace) => {
    model.hasPlace = hasPlace;
  }),
  step(3, 'wait', fc.constantFrom(1, 4, 19), (model, ms) => {
    model.now += ms;
  }),
  step(6, 'start', fc.constant('the next'), (model) => model.delete(model.next?.id ?? '')),
);

it('the next call is the one that a look at all of them would find, whatever happens', () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 120, size: 'max' }), (steps) => {
      const model = new Model();
      for (const { run } of steps) {
        run(model);
        expect(model.next?.id).toBe(model.expected);
        expect(model.lines.size).toBe(model.waiting.size);
        expect(model.lines.nextAt).toBeGreaterThan(model.now);
        const { backlog, connects, size } = model.lines;
        expect(connects >= 0 && connects <= backlog && backlog <= size).toBe(true);
      }
      // Without holds, all calls start, so none was forgotten.
      model.gates.clear();
      model.nodes.clear();
      model.servers.clear();
      model.hasPlace = true;
      model.lines.allOpened();
      for (const node of NODES) model.lines.nodeChanged(node);
      for (let next = model.next; next !== undefined; next = model.next) {
        expect(next.id).toBe(model.expected);
        model.delete(next.id);
      }
      expect([model.waiting.size, model.lines.size, model.lines.backlog, model.lines.connects]).toEqual([
        0, 0, 0, 0,
      ]);
    }),
    { numRuns: 400 },
  );
});

it('what is held longer than the time that passes is found by time alone', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(30), anyFor, fc.constantFrom('server', 'node', 'gate resources')), {
        minLength: 1,
        maxLength: 20,
      }),
      (calls) => {
        const lines = new CallLines<string>();
        const until = new Map<string, Start>();
        // Each call has its own node, because a gate must hold all calls of a line equally.
        for (const [index, [deadline, ms, gate]] of calls.entries()) {
          const server = `s${index}`;
          const forMs = gate === 'server' && ms === NEVER ? 3 : ms;
          const at = gate === 'gate resources' ? NOW + 7 : NOW + forMs;
          until.set(server, at > NOW ? held(at, gate) : FREE);
          lines.add(server, call(server, deadline, { node: () => server }), server);
        }
        const decideStart =
          (now: number) =>
          ({ server }: Call) => {
            const start = until.get(server) ?? FREE;
            return start.at > now ? start : FREE;
          };
        const seen = new Map<string, number>();
        let now = NOW;
        for (let looks = 0; Number.isFinite(now) && looks < 100; looks += 1) {
          for (const server of started(lines, decideStart(now), now)) seen.set(server, now);
          now = lines.nextAt;
        }
        for (const [server, { at }] of until)
          expect(seen.get(server)).toBe(at === NEVER ? undefined : Math.max(NOW, at));
      },
    ),
  );
});

describe('the rules asked for one start', () => {
  it.each([
    ['on 50 nodes', 50],
    ['on a node each', 10_000],
  ])('don’t grow with the number of calls that wait, %s', (_what, nodes) => {
    const askedFor = (calls: number) => {
      const lines = new CallLines<string>();
      for (let server = 0; server < calls; server += 1) {
        const node = `n${server % nodes}`;
        lines.add(String(server), call(`s${server}`, server, { node: () => node }), '');
      }
      let asked = 0;
      // Every second node has an outage.
      const decideStart = (one: Call) => {
        asked += 1;
        return Number(one.node()?.slice(1)) % 2 === 0 ? held(NEVER, 'node') : FREE;
      };
      const begin = () => {
        const next = lines.next(NOW, all, decideStart);
        if (next !== undefined) lines.delete(next.id);
      };
      for (let first = 0; first < 20; first += 1) begin();
      asked = 0;
      for (let start = 0; start < 20; start += 1) begin();
      return asked / 20;
    };
    expect(askedFor(10_000)).toBeLessThanOrEqual(Math.max(2, askedFor(100)));
  });
});
