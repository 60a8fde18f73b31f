import { isIP, type LookupFunction } from 'node:net';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { nodeLookup, type ResolveName, systemNames } from '../../../src/addresses/name-lookups.ts';
import { readTransportError } from '../../../src/diagnosis/transport-errors.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const ADDRESS = '203.0.113.7';
const FOUND = [{ address: ADDRESS, family: isIP(ADDRESS) }];

/** Lookups that end on a test's command, as with a name server that doesn't respond. */
class Stage {
  readonly clock = new ManualClock();
  /** The names of all lookups, in order. */
  readonly begun: string[] = [];
  /** Functions that end the running lookups, with an address or with an error. */
  readonly #running = new Map<string, (isFound: boolean) => void>();
  readonly #names = systemNames((name) => {
    this.begun.push(name);
    expect(this.running).not.toContain(name);
    const error = Object.assign(new Error(`getaddrinfo EAI_AGAIN ${name}`), { code: 'EAI_AGAIN' });
    return new Promise((resolve, reject) =>
      this.#running.set(name, (isFound) => (isFound ? resolve(FOUND) : reject(error))),
    );
  });

  panel(): ResolveName {
    return this.#names.forPanel();
  }

  get running(): readonly string[] {
    return [...this.#running.keys()];
  }

  async end(names: readonly string[], isFound = true): Promise<void> {
    for (const name of names) {
      this.#running.get(name)?.(isFound);
      this.#running.delete(name);
    }
    await this.clock.advance(0);
  }
}

/** The error's message, or the first address. */
const outcome = (found: ReturnType<ResolveName>) =>
  found.then(
    ([first]) => first?.address,
    (error: Error) => error.message,
  );

/** Starts to resolve names. The result contains the outcomes. */
function want(resolve: ResolveName, ...names: readonly string[]) {
  const outcomes = Promise.all(names.map((name) => outcome(resolve(name, new AbortController().signal))));
  return () => outcomes;
}

const SILENT = Array.from({ length: 60 }, (_, index) => `silent-${index}`);

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('a name', () => {
  it('is looked up once for all callers that wait for it, in all panels, and again for later ones', async () => {
    const stage = new Stage();
    const [one, other] = [stage.panel(), stage.panel()];
    const found = [want(one, 'a', 'a'), want(other, 'a')];
    await stage.end(['a']);
    expect(await Promise.all(found.map((outcomes) => outcomes()))).toEqual([[ADDRESS, ADDRESS], [ADDRESS]]);
    expect(stage.begun).toEqual(['a']);
    const failed = want(other, 'a');
    await stage.end(['a'], false);
    expect(await failed()).toEqual(['getaddrinfo EAI_AGAIN a']);
    expect(stage.begun).toEqual(['a', 'a']);
  });

  it('that no caller waits for any more is not looked up, unless another caller comes', async () => {
    const stage = new Stage();
    const panel = stage.panel();
    const scope = new AbortController();
    want(panel, 'silent');
    const abandoned = ['abandoned', 'again'].map((name) => outcome(panel(name, scope.signal)));
    scope.abort(new Error('too late'));
    expect(await Promise.all(abandoned)).toEqual(['too late', 'too late']);
    const found = want(panel, 'next', 'again');
    for (const name of ['silent', 'again', 'next']) await stage.end([name]);
    expect(await found()).toEqual([ADDRESS, ADDRESS]);
    expect(stage.begun).toEqual(['silent', 'again', 'next']);
    const later = want(panel, 'abandoned');
    await stage.end(['abandoned']);
    expect(await later()).toEqual([ADDRESS]);
  });

  it('that waits behind others of one panel is found at once for another panel', async () => {
    const stage = new Stage();
    want(stage.panel(), ...SILENT, 'shared');
    const found = want(stage.panel(), 'shared');
    await stage.end(['shared']);
    expect(await found()).toEqual([ADDRESS]);
  });
});

describe('a panel with silent names', () => {
  it.each([
    [undefined, 1],
    ['4', 1],
    ['5', 2],
    ['16', 2],
    ['many', 1],
  ])(
    'has never all threads for lookups, so that another resolves at once: with UV_THREADPOOL_SIZE=%s, %d',
    async (size, count) => {
      vi.stubEnv('UV_THREADPOOL_SIZE', size);
      const stage = new Stage();
      want(stage.panel(), ...SILENT);
      expect(stage.running).toEqual(SILENT.slice(0, count));
      const other = stage.panel();
      for (const name of ['a', 'b', 'c']) {
        const found = want(other, name);
        await stage.end([name]);
        expect(await found()).toEqual([ADDRESS]);
      }
    },
  );
});

it('whatever is looked up: a panel has at most two lookups, a name one, and every caller gets an outcome', async () => {
  vi.stubEnv('UV_THREADPOOL_SIZE', '16');
  const step = fc.record({ panel: fc.nat(3), name: fc.nat(9), end: fc.option(fc.boolean()) });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const stage = new Stage();
      const panels = Array.from({ length: 4 }, () => stage.panel());
      const waiting: (() => Promise<unknown>)[] = [];
      for (const { panel, name, end } of steps) {
        const resolve = panels[panel];
        // Some names belong to one panel, so that its lookups can be counted. Other names are
        // shared.
        const owner = name < 7 ? `${panel}` : 'shared';
        if (resolve !== undefined) waiting.push(want(resolve, `${owner}-${name}`));
        await stage.clock.advance(0);
        for (const index of panels.keys())
          expect(stage.running.filter((running) => running.startsWith(`${index}-`)).length).toBeLessThan(3);
        expect(stage.running.length).toBeLessThanOrEqual(panels.length * 2);
        if (end !== null) await stage.end(stage.running.slice(0, 1), end);
      }
      while (stage.running.length > 0) await stage.end(stage.running, false);
      for (const outcomes of waiting) await outcomes();
    }),
  );
});

describe('a connection whose name is not resolved in time', () => {
  it('fails with the cause dns before its own timeout, and its lookup is not begun later', async () => {
    const stage = new Stage();
    const panel = stage.panel();
    want(panel, 'silent');
    const lookup = nodeLookup(panel, { clock: stage.clock, timeoutMs: 7_000 });
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
    await stage.end(['silent'], false);
    expect(stage.begun).toEqual(['silent']);
    expect(stage.clock.pending).toBe(0);
  });
});

describe('connections to a name', () => {
  const connect = (lookup: LookupFunction) =>
    new Promise<unknown>((resolve) => {
      lookup('node.example.com', { all: true }, (error, addresses) => resolve(error?.message ?? addresses));
    });

  it('share a lookup and its addresses for a second, and never an error after its end', async () => {
    const stage = new Stage();
    const lookup = nodeLookup(stage.panel(), { clock: stage.clock, timeoutMs: 7_000 });
    const failed = [connect(lookup), connect(lookup)];
    await stage.end(['node.example.com'], false);
    const error = 'getaddrinfo EAI_AGAIN node.example.com';
    expect(await Promise.all(failed)).toEqual([error, error]);
    const found = connect(lookup);
    await stage.end(['node.example.com']);
    expect(await found).toEqual(FOUND);
    await stage.clock.advance(999);
    expect(await connect(lookup)).toEqual(FOUND);
    expect(stage.begun).toHaveLength(2);
    await stage.clock.advance(1);
    const later = connect(lookup);
    await stage.end(['node.example.com']);
    expect(await later).toEqual(FOUND);
    expect(stage.begun).toHaveLength(3);
    expect(stage.clock.pending).toBe(0);
  });
});
