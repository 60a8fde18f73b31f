import { isIP } from 'node:net';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { readTransportError } from '../../../src/diagnosis/transport.ts';
import { FAILURE_MEMORY_MS, NameLookups, type ResolveName } from '../../../src/names/name-lookups.ts';
import { lookupThreads, nodeLookup } from '../../../src/names/system.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const ADDRESS = '203.0.113.7';
const FOUND = [{ address: ADDRESS, family: isIP(ADDRESS) }];

/** Lookups that end when the test ends them, as with a name server that doesn't respond. */
class Stage {
  readonly clock = new ManualClock();
  /** The names that were looked up, in order. */
  readonly begun: string[] = [];
  readonly #running = new Map<string, { readonly find: () => void; readonly fail: () => void }>();
  readonly lookups: NameLookups;

  constructor(threads: number) {
    this.lookups = new NameLookups({
      clock: this.clock,
      threads,
      lookUp: (name) => {
        this.begun.push(name);
        return new Promise((resolve, reject) => {
          const error = Object.assign(new Error(`getaddrinfo EAI_AGAIN ${name}`), { code: 'EAI_AGAIN' });
          this.#running.set(name, { find: () => resolve(FOUND), fail: () => reject(error) });
        });
      },
    });
  }

  get running(): readonly string[] {
    return [...this.#running.keys()];
  }

  async find(...names: readonly string[]): Promise<void> {
    for (const name of names) this.#running.get(name)?.find();
    await this.#ended(names);
  }

  async fail(...names: readonly string[]): Promise<void> {
    for (const name of names) this.#running.get(name)?.fail();
    await this.#ended(names);
  }

  async #ended(names: readonly string[]): Promise<void> {
    for (const name of names) this.#running.delete(name);
    await this.clock.advance(0);
  }
}

/** The error's message, or the first address. */
const outcome = (found: ReturnType<ResolveName>) =>
  found.then(
    ([first]) => first?.address,
    (error: Error) => error.message,
  );

/** Begins to resolve names; the result gives the outcomes. */
function want(resolve: ResolveName, ...names: readonly string[]) {
  const outcomes = Promise.all(names.map((name) => outcome(resolve(name, new AbortController().signal))));
  return () => outcomes;
}

let stage: Stage;
let one: ResolveName;
let other: ResolveName;

beforeEach(() => {
  stage = new Stage(4);
  one = stage.lookups.forPanel();
  other = stage.lookups.forPanel();
});

describe('a name', () => {
  it('is looked up once for all callers that wait for it, in all panels, and again for later ones', async () => {
    const found = [want(one, 'a', 'a'), want(other, 'a')];
    await stage.find('a');
    expect(await Promise.all(found.map((outcomes) => outcomes()))).toEqual([[ADDRESS, ADDRESS], [ADDRESS]]);
    expect(stage.begun).toEqual(['a']);
    want(other, 'a');
    expect(stage.begun).toEqual(['a', 'a']);
  });

  it('that failed is not looked up again for some seconds', async () => {
    const first = want(one, 'a');
    await stage.fail('a');
    for (const outcomes of [first, want(one, 'a'), want(other, 'a')])
      expect(await outcomes()).toEqual(['getaddrinfo EAI_AGAIN a']);
    await stage.clock.advance(FAILURE_MEMORY_MS - 1);
    expect(await want(one, 'a')()).toEqual(['getaddrinfo EAI_AGAIN a']);
    expect(stage.begun).toEqual(['a']);
    await stage.clock.advance(1);
    want(one, 'a');
    expect(stage.begun).toEqual(['a', 'a']);
  });

  it('that no caller waits for any more is not looked up', async () => {
    const scope = new AbortController();
    want(one, 'silent');
    const abandoned = outcome(one('abandoned', scope.signal));
    want(one, 'next');
    scope.abort(new Error('too late'));
    expect(await abandoned).toBe('too late');
    await stage.fail('silent');
    expect(stage.begun).toEqual(['silent', 'next']);
  });

  it('that one panel waits for is looked up at once if another panel needs it and has no other lookup under way', () => {
    want(one, 'silent', 'shared');
    want(other, 'shared');
    expect(stage.running).toEqual(['silent', 'shared']);
  });

  it('that another panel waits for behind others is found at once', async () => {
    want(one, 'silent-1', 'shared', 'silent-2');
    const found = want(other, 'shared');
    await stage.find('shared');
    expect(await found()).toEqual([ADDRESS]);
    expect(stage.running).toEqual(['silent-1']);
  });

  it('is not looked up once the exporter is stopping', async () => {
    const found = want(one, 'silent', 'next');
    stage.lookups.close();
    const stopping = 'the exporter is stopping';
    expect(await found()).toEqual([stopping, stopping]);
    expect(await want(other, 'late')()).toEqual([stopping]);
    await stage.fail('silent');
    expect(stage.begun).toEqual(['silent']);
  });
});

describe('a panel with silent names', () => {
  const SILENT = Array.from({ length: 60 }, (_, index) => `silent-${index}`);

  it('has one of them under way, so that another panel resolves its names at once', async () => {
    want(one, ...SILENT);
    expect(stage.running).toEqual(['silent-0']);
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      const found = want(other, name);
      await stage.find(name);
      expect(await found()).toEqual([ADDRESS]);
    }
  });

  it('does the same with only two threads', async () => {
    stage = new Stage(2);
    want(stage.lookups.forPanel(), ...SILENT);
    const found = want(stage.lookups.forPanel(), 'a');
    await stage.find('a');
    expect(await found()).toEqual([ADDRESS]);
  });

  it('resolves those of its names that resolved last time', async () => {
    want(one, 'good');
    await stage.find('good');
    want(one, ...SILENT);
    const found = want(one, 'good');
    await stage.find('good');
    expect(await found()).toEqual([ADDRESS]);
  });

  it('looks up new names before those that failed', async () => {
    want(one, 'dead');
    await stage.fail('dead');
    await stage.clock.advance(FAILURE_MEMORY_MS);
    want(one, 'busy', 'dead', 'new');
    await stage.fail('busy');
    expect(stage.running).toEqual(['new']);
  });
});

describe('many panels with silent names', () => {
  it('leave the last thread to names that did not fail', async () => {
    stage = new Stage(3);
    const panels = Array.from({ length: 5 }, () => stage.lookups.forPanel());
    for (const [index, panel] of panels.entries()) {
      want(panel, `dead-${index}`);
      await stage.fail(`dead-${index}`);
    }
    await stage.clock.advance(FAILURE_MEMORY_MS);
    for (const [index, panel] of panels.entries()) want(panel, `dead-${index}`);
    expect(stage.running).toEqual(['dead-0', 'dead-1']);
    want(stage.lookups.forPanel(), 'a');
    expect(stage.running).toEqual(['dead-0', 'dead-1', 'a']);
  });

  it('rotate, so that none of them waits for all names of another', async () => {
    stage = new Stage(1);
    want(stage.lookups.forPanel(), 'a1', 'a2', 'a3');
    want(stage.lookups.forPanel(), 'b1', 'b2');
    for (const name of ['a1', 'b1', 'a2', 'b2', 'a3']) {
      expect(stage.running).toEqual([name]);
      await stage.fail(name);
    }
  });
});

it('whatever is looked up: threads are never exceeded, a panel has one lookup of each kind, and every lookup ends', async () => {
  const step = fc.record({ panel: fc.nat(3), name: fc.nat(9), end: fc.constantFrom('find', 'fail', 'none') });
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 5 }),
      fc.array(step, { maxLength: 60 }),
      async (threads, steps) => {
        const scene = new Stage(threads);
        const panels = Array.from({ length: 4 }, () => scene.lookups.forPanel());
        const waiting: (() => Promise<unknown>)[] = [];
        for (const { panel, name, end } of steps) {
          const resolve = panels[panel];
          // Names belong to one panel here, so that its lookups can be counted.
          if (resolve !== undefined) waiting.push(want(resolve, `${panel}-${name}`));
          await scene.clock.advance(FAILURE_MEMORY_MS / 2);
          expect(scene.running.length).toBeLessThanOrEqual(threads);
          for (const index of panels.keys())
            expect(
              scene.running.filter((running) => running.startsWith(`${index}-`)).length,
            ).toBeLessThanOrEqual(2);
          const [oldest] = scene.running;
          if (oldest !== undefined && end !== 'none') await scene[end](oldest);
        }
        while (scene.running.length > 0) await scene.fail(...scene.running);
        for (const outcomes of waiting) await outcomes();
      },
    ),
  );
});

describe('a connection whose name is not resolved in time', () => {
  it('fails with the cause dns before its own timeout, and its lookup is not begun later', async () => {
    want(one, 'silent');
    const lookup = nodeLookup(one, { clock: stage.clock, timeoutMs: 7_000 });
    const errors: (Error | null)[] = [];
    lookup('node.example.com', {}, (error) => errors.push(error));
    await stage.clock.advance(6_999);
    expect(errors).toEqual([]);
    await stage.clock.advance(1);
    expect(readTransportError(errors[0])).toEqual({
      kind: 'dns',
      code: 'LOOKUP_TIMEOUT',
      hostname: 'node.example.com',
      message: '"node.example.com" was not resolved in time',
    });
    await stage.fail('silent');
    expect(stage.begun).toEqual(['silent']);
    expect(stage.clock.pending).toBe(0);
  });
});

describe('the threads for lookups', () => {
  it.each([
    [undefined, 2],
    ['1', 1],
    ['2', 1],
    ['16', 8],
    ['17', 9],
    ['0', 1],
    ['many', 1],
    ['100000', 512],
  ])('are half of the pool of UV_THREADPOOL_SIZE=%s: %d', (size, threads) => {
    expect(lookupThreads(size === undefined ? {} : { UV_THREADPOOL_SIZE: size })).toBe(threads);
  });
});
