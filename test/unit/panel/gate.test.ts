import { describe, expect, it } from 'vitest';
import type { Problem } from '../../../src/domain/problem.ts';
import {
  type Entry,
  type EntryRequest,
  Gate,
  PANEL,
  pathKey,
  pollsKey,
  socketsKey,
} from '../../../src/panel/gate.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const PROBLEM: Problem = { cause: 'node_connection', detail: 'connection refused' };

/** A gate, and the entries that it admitted, by subject. */
class Bench {
  readonly clock = new ManualClock();
  readonly gate: Gate;
  readonly admitted: string[] = [];
  readonly entries = new Map<string, Entry>();
  readonly rejected: string[] = [];

  constructor(allowedPerMinute = 600) {
    this.gate = new Gate(this.clock, () => allowedPerMinute);
  }

  enter(subject: string, request: Partial<EntryRequest> = {}, signal = new AbortController().signal): void {
    const full = { subject, circuits: () => [], deadline: 0, ...request };
    this.gate.enter(full, signal).then(
      (entry) => {
        this.admitted.push(subject);
        this.entries.set(subject, entry);
        return entry;
      },
      () => this.rejected.push(subject),
    );
  }

  poll(subject: string, node: string, request: Partial<EntryRequest> = {}): void {
    this.enter(subject, { circuits: () => [pollsKey(node)], seatOf: () => node, ...request });
  }

  open(key: Parameters<Gate['note']>[0]): void {
    for (const subject of ['x', 'y', 'z'])
      this.gate.note(key, { type: 'failed', subject, problem: PROBLEM, now: this.clock.now(), needed: 3 });
  }

  works(node: string): void {
    this.gate.note(pollsKey(node), { type: 'succeeded' });
  }

  settle(): Promise<void> {
    return this.clock.advance(0);
  }
}

describe('a gate with closed circuits', () => {
  it('admits at once', async () => {
    const bench = new Bench();
    bench.enter('a', { circuits: () => [PANEL, pathKey('websocket')] });
    await bench.settle();
    expect(bench.admitted).toEqual(['a']);
  });

  it('rejects with the reason of the signal', async () => {
    const bench = new Bench();
    const withdrawal = new AbortController();
    bench.open(PANEL);
    bench.enter('a', { circuits: () => [PANEL] }, withdrawal.signal);
    withdrawal.abort(new Error('stop'));
    await bench.settle();
    expect(bench.rejected).toEqual(['a']);
    expect(bench.gate.waiting).toBe(0);
  });
});

describe('an open circuit', () => {
  it('admits nothing while it is the panel’s, until it closes', async () => {
    const bench = new Bench();
    bench.open(PANEL);
    bench.enter('a', { circuits: () => [PANEL] });
    await bench.clock.advance(600_000);
    expect(bench.admitted).toEqual([]);
    bench.gate.note(PANEL, { type: 'succeeded' });
    await bench.settle();
    expect(bench.admitted).toEqual(['a']);
  });

  it('admits one trial at a time, that with the earliest deadline first', async () => {
    const bench = new Bench();
    const key = socketsKey('n');
    bench.open(key);
    bench.enter('late', { circuits: () => [key], deadline: 9 });
    bench.enter('early', { circuits: () => [key], deadline: 1 });
    await bench.clock.advance(14_999);
    expect(bench.admitted).toEqual([]);
    await bench.clock.advance(60_000);
    expect(bench.admitted).toEqual(['early']);
    bench.gate.note(key, {
      type: 'failed',
      subject: 'early',
      problem: PROBLEM,
      now: bench.clock.now(),
      needed: 3,
    });
    await bench.clock.advance(30_000);
    expect(bench.admitted).toEqual(['early', 'late']);
  });

  it('lets the next steps of its trial pass', async () => {
    const bench = new Bench();
    const key = socketsKey('n');
    bench.open(key);
    bench.enter('a', { circuits: () => [key] });
    await bench.clock.advance(15_000);
    bench.enter('b', { circuits: () => [key] });
    bench.enter('a', { circuits: () => [PANEL, key] });
    await bench.settle();
    expect(bench.admitted).toEqual(['a', 'a']);
  });

  it('lets the next step of its trial pass even if others wait for the same circuits', async () => {
    const bench = new Bench();
    const [key, path] = [socketsKey('n'), pathKey('websocket')];
    bench.open(key);
    bench.enter('a', { circuits: () => [key] });
    await bench.clock.advance(15_000);
    bench.open(path);
    for (const subject of ['b', 'a']) bench.enter(subject, { circuits: () => [path, key] });
    await bench.settle();
    bench.gate.note(path, { type: 'succeeded' });
    await bench.settle();
    expect(bench.admitted).toEqual(['a', 'a']);
  });

  it('admits all that wait when it closes', async () => {
    const bench = new Bench();
    const key = pathKey('websocket');
    bench.open(key);
    for (const subject of ['a', 'b', 'c']) bench.enter(subject, { circuits: () => [key] });
    await bench.settle();
    bench.gate.note(key, { type: 'succeeded' });
    await bench.settle();
    expect(bench.admitted).toEqual(['a', 'b', 'c']);
  });
});

describe('an entry with a limit of its own', () => {
  it('waits for it without holding others that need the same', async () => {
    const bench = new Bench();
    const readyAt = () => 30_000 + startedAt;
    const startedAt = bench.clock.now();
    const circuits = () => [pathKey('websocket')];
    bench.enter('full', { circuits, readyAt });
    bench.open(pathKey('websocket'));
    bench.enter('other', { circuits, deadline: 1 });
    await bench.clock.advance(15_000);
    expect(bench.admitted).toEqual(['other']);
    bench.gate.note(pathKey('websocket'), { type: 'succeeded' });
    await bench.clock.advance(14_999);
    expect(bench.admitted).toEqual(['other']);
    await bench.clock.advance(1);
    expect(bench.admitted).toEqual(['other', 'full']);
  });

  it('may not start any more if its limit is used up meanwhile, and leaves its trial to others', async () => {
    const bench = new Bench();
    const circuits = () => [pathKey('websocket')];
    let readyAt = bench.clock.now();
    const request = { subject: 'trial', circuits, deadline: 0, readyAt: () => readyAt };
    bench.open(pathKey('websocket'));
    bench.enter('trial', request);
    bench.enter('other', { circuits, deadline: 1 });
    await bench.clock.advance(15_000);
    expect([bench.admitted, bench.gate.isAdmitted(request)]).toEqual([['trial'], true]);
    readyAt = bench.clock.now() + 60_000;
    expect(bench.gate.isAdmitted(request)).toBe(false);
    bench.entries.get('trial')?.leave(true);
    await bench.settle();
    expect(bench.admitted).toEqual(['trial', 'other']);
  });
});

it('looks at nothing that waits when more enters, or when a call fails whose circuit is closed', async () => {
  const bench = new Bench();
  bench.open(PANEL);
  let looks = 0;
  const circuits = () => {
    looks += 1;
    return [PANEL];
  };
  for (let index = 0; index < 500; index += 1) bench.enter(`s${index}`, { circuits });
  bench.open(pathKey('backups'));
  await bench.settle();
  expect(looks).toBeLessThan(500 * 5);
});

describe('trials', () => {
  it('take at most a tenth of the rate together', async () => {
    const bench = new Bench(30);
    for (let node = 0; node < 10; node += 1) {
      bench.open(socketsKey(String(node)));
      bench.enter(String(node), { circuits: () => [socketsKey(String(node))] });
    }
    await bench.clock.advance(15_000);
    expect(bench.admitted).toHaveLength(3);
    await bench.clock.advance(60_000);
    expect(bench.admitted).toHaveLength(6);
  });

  it('are at least one a minute, however low the rate is', async () => {
    const bench = new Bench(4);
    bench.open(socketsKey('n'));
    bench.enter('a', { circuits: () => [socketsKey('n')] });
    await bench.clock.advance(15_000);
    expect(bench.admitted).toEqual(['a']);
  });

  it('include retries of servers that failed alone', async () => {
    const bench = new Bench(10);
    for (const subject of ['a', 'b']) bench.enter(subject, { isRetry: () => true });
    await bench.settle();
    expect(bench.admitted).toEqual(['a']);
    await bench.clock.advance(60_000);
    expect(bench.admitted).toEqual(['a', 'b']);
  });
});

describe('the seats of polls', () => {
  it('are five, of which one node has at most four', async () => {
    const bench = new Bench();
    for (const node of ['n', 'm']) bench.works(node);
    for (let index = 0; index < 6; index += 1) bench.poll(`n${index}`, 'n');
    for (let index = 0; index < 3; index += 1) bench.poll(`m${index}`, 'm');
    await bench.settle();
    expect(bench.admitted).toEqual(['n0', 'n1', 'n2', 'n3', 'm0']);
  });

  it('are three for nodes that have not responded, and one for each of these', async () => {
    const bench = new Bench();
    for (const node of ['a', 'b', 'c', 'd']) for (const index of [0, 1]) bench.poll(`${node}${index}`, node);
    await bench.settle();
    expect(bench.admitted).toEqual(['a0', 'b0', 'c0']);
  });

  it('are given back when the poll ends, to the earliest deadline', async () => {
    const bench = new Bench();
    bench.works('n');
    for (let index = 0; index < 4; index += 1) bench.poll(`n${index}`, 'n');
    bench.poll('late', 'n', { deadline: 9 });
    bench.poll('early', 'n', { deadline: 1 });
    await bench.settle();
    bench.entries.get('n0')?.leave(false);
    await bench.settle();
    expect(bench.admitted.at(-1)).toBe('early');
  });

  it('are lost after 3 s, and the node is in doubt', async () => {
    const bench = new Bench();
    bench.works('n');
    bench.poll('slow', 'n');
    await bench.settle();
    bench.entries.get('slow')?.seat?.began();
    await bench.clock.advance(3_000);
    await bench.entries.get('slow')?.seat?.left;
    expect(bench.gate.circuit(pollsKey('n')).state).toBe('doubtful');
  });

  it('are not needed by calls that no node can delay', async () => {
    const bench = new Bench();
    for (let index = 0; index < 20; index += 1) bench.enter(String(index));
    await bench.settle();
    expect(bench.admitted).toHaveLength(20);
  });
});
