import { beforeEach, describe, expect, it } from 'vitest';
import { SlicedWork } from '../../../src/fleet/sliced-work.ts';

let later: Set<() => void>;
let done: string[];
let work: SlicedWork;

beforeEach(() => {
  later = new Set();
  done = [];
  work = new SlicedWork((run) => {
    later.add(run);
    return () => later.delete(run);
  });
});

function* steps(name: string, count: number): Generator<void, void, void> {
  for (let step = 0; step < count; step += 1) {
    done.push(name);
    yield;
  }
}

function nextSlice(): void {
  const [run] = later;
  if (run === undefined) throw new Error('expected work to be left');
  later.delete(run);
  run();
}

describe('sliced work', () => {
  it('is done immediately if there is little', () => {
    work.begin(steps('a', 20));
    expect(done).toHaveLength(20);
    expect(later.size).toBe(0);
  });

  it('yields to other work if there is much', () => {
    work.begin(steps('a', 1_000));
    let slices = 1;
    for (; later.size > 0; slices += 1) {
      const before = done.length;
      nextSlice();
      expect(done.length - before).toBeLessThanOrEqual(32);
    }
    expect(done).toHaveLength(1_000);
    expect(slices).toBeGreaterThanOrEqual(30);
  });

  it('is dropped when new work begins', () => {
    work.begin(steps('a', 1_000));
    work.begin(steps('b', 150));
    while (later.size > 0) nextSlice();
    expect(done.filter((name) => name === 'a').length).toBeLessThan(1_000);
    expect(done.filter((name) => name === 'b')).toHaveLength(150);
  });

  it('can be cancelled, even from within', () => {
    work.begin(steps('a', 1_000));
    work.cancel();
    expect(later.size).toBe(0);
    function* cancelling(): Generator<void, void, void> {
      work.cancel();
      yield;
      done.push('too much');
    }
    work.begin(cancelling());
    expect(done).not.toContain('too much');
    expect(later.size).toBe(0);
  });
});
