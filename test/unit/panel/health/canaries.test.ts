import { describe, expect, it } from 'vitest';
import type { CauseCode } from '../../../../src/domain/problems.ts';
import { askCanaries, type RoundOptions } from '../../../../src/panel/health/canaries.ts';
import { PanelError } from '../../../../src/panel/panel-error.ts';
import { NO_SERVER, type Path } from '../../../../src/panel/subjects.ts';
import { type Deferred, deferred } from '../../../support/deferred.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

type Options = Partial<Omit<RoundOptions, 'clock' | 'enqueue'>> & { readonly full?: readonly Path[] };

/** A round of canaries. The test determines their ends. */
function begun({ full = [], ...options }: Options = {}) {
  const clock = new ManualClock();
  const canaries = new Map<Path, Deferred<unknown>>();
  const asked: [Path, string][] = [];
  const scope = new AbortController();
  const result = askCanaries(
    {
      clock,
      enqueue: ({ path, servers }) => {
        const [server] = servers;
        if (server === undefined || full.includes(path)) return undefined;
        const end = deferred<unknown>();
        canaries.set(path, end);
        asked.push([path, server]);
        return { server, end: end.promise };
      },
      isUsed: () => true,
      candidates: (path) => [`first of ${path}`, 'second'],
      earlierRounds: 0,
      isBlamed: false,
      isListMissing: false,
      isKnown: false,
      ...options,
    },
    scope.signal,
  );
  const seen: unknown[] = [];
  result.then(
    (problem) => seen.push(problem?.cause),
    (error: unknown) => seen.push(error),
  );
  const end = async (path: Path, cause?: CauseCode, fromPanel = false) => {
    canaries.get(path)?.resolve(cause && new PanelError({ cause, detail: `of ${path}` }, { fromPanel }));
    await clock.advance(0);
  };
  return { clock, asked, scope, end, seen, paths: () => asked.map(([path]) => path) };
}

type World = ReturnType<typeof begun>;

/** Starts a round, and waits until all canaries have started. */
async function allBegun(options?: Options): Promise<World> {
  const world = begun(options);
  await world.clock.advance(6_000);
  return world;
}

describe('a round of canaries', () => {
  it('begins with the server list, and tries the next kind if that takes two seconds, then the third', async () => {
    const world = begun();
    await world.clock.advance(1_999);
    expect(world.asked).toEqual([['listing', NO_SERVER]]);
    await world.clock.advance(1);
    expect(world.asked.slice(1)).toEqual([['websocket', 'first of websocket']]);
    await world.clock.advance(2_000);
    expect(world.asked.slice(2)).toEqual([['resources', 'first of resources']]);
    expect(world.seen).toEqual([]);
  });

  it('tries the next kind at once if one has failed', async () => {
    const world = begun();
    await world.clock.advance(100);
    await world.end('listing', 'timeout');
    expect(world.paths()).toEqual(['listing', 'websocket']);
  });

  it.each<[number, readonly Path[]]>([
    [0, ['listing', 'websocket', 'resources']],
    [1, ['websocket', 'resources', 'listing']],
    [2, ['resources', 'listing', 'websocket']],
    [3, ['listing', 'websocket', 'resources']],
  ])('begins with another kind after %i others', async (earlierRounds, paths) => {
    expect((await allBegun({ earlierRounds })).paths()).toEqual(paths);
  });

  it('tries only kinds that are used', async () => {
    const world = await allBegun({ isUsed: (path) => path === 'resources' });
    expect(world.paths()).toEqual(['resources']);
    await world.end('resources', 'timeout');
    expect(world.seen).toEqual(['timeout']);
  });

  it('fails if every kind did', async () => {
    const world = await allBegun();
    for (const path of ['listing', 'websocket'] as const) await world.end(path, 'timeout');
    expect(world.seen).toEqual([]);
    await world.end('resources', 'connection_cut');
    expect(world.seen).toEqual(['timeout']);
  });

  it.each<[string, CauseCode | undefined, boolean]>([
    ['works', undefined, true],
    ['is about a server', 'suspended', true],
    ['is about a node', 'node_unreachable', true],
    ['is a 429', 'rate_limited', true],
    ['was never made', 'descriptors', false],
  ])('fails with nothing if one kind’s response %s', async (_what, cause, fromPanel) => {
    const world = await allBegun();
    await world.end('listing', 'timeout');
    await world.end('websocket', cause, fromPanel);
    await world.end('resources', 'timeout');
    expect(world.seen).toEqual([undefined]);
  });

  it('shows the refused key rather than another failure', async () => {
    const world = await allBegun();
    await world.end('listing', 'timeout');
    await world.end('websocket', 'key_refused', true);
    await world.end('resources', 'timeout');
    expect(world.seen).toEqual(['key_refused']);
  });

  it('needs only one refusal of a key that was refused before', async () => {
    const world = begun({ isBlamed: true });
    await world.clock.advance(100);
    await world.end('listing', 'key_refused', true);
    expect([world.seen, world.paths()]).toEqual([['key_refused'], ['listing']]);
  });

  it('needs all kinds for a key that is refused for the first time', async () => {
    const world = begun();
    await world.clock.advance(100);
    await world.end('listing', 'key_refused', true);
    expect([world.seen, world.paths()]).toEqual([[], ['listing', 'websocket']]);
  });

  it('doesn’t count a kind of which no call may be made now', async () => {
    const world = await allBegun({ full: ['websocket'] });
    for (const path of ['listing', 'resources'] as const) await world.end(path, 'timeout');
    expect(world.seen).toEqual(['timeout']);
  });

  it('proves nothing if no call may be made at all', async () => {
    const world = await allBegun({ full: ['listing', 'websocket', 'resources'] });
    expect([world.seen, world.asked]).toEqual([[undefined], []]);
  });

  it('doesn’t count the server list of a panel that may have none', async () => {
    const world = await allBegun({ isListMissing: true });
    await world.end('listing', 'not_found');
    for (const path of ['websocket', 'resources'] as const) await world.end(path, 'timeout');
    expect(world.seen).toEqual(['timeout']);
  });

  it.each<[string, boolean, CauseCode | undefined]>([
    ['before any success', false, 'not_found'],
    ['of a panel without a list that is known', true, undefined],
  ])('takes 404 of everything %s as that', async (_what, isKnown, cause) => {
    const world = await allBegun({ isListMissing: true, isKnown });
    for (const path of ['listing', 'websocket', 'resources'] as const)
      await world.end(path, 'not_found', true);
    expect(world.seen).toEqual([cause]);
  });

  it.each<[string, boolean, CauseCode, CauseCode | undefined]>([
    ['if it is so with the server list, too', true, 'not_found', 'not_found'],
    ['not if the server list fails in another way', true, 'timeout', undefined],
    ['if nothing has worked yet', false, 'timeout', 'timeout'],
  ])('takes 404 about a server for a failure of the panel %s', async (_what, isKnown, ofList, cause) => {
    const world = await allBegun({ isKnown });
    await world.end('listing', ofList, true);
    await world.end('websocket', 'not_found', true);
    await world.end('resources', 'panel_down');
    expect(world.seen).toEqual([cause]);
  });

  it('ends with its signal', async () => {
    const world = begun();
    await world.clock.advance(100);
    const reason = new Error('the trial is over');
    world.scope.abort(reason);
    await world.clock.advance(0);
    expect([world.seen, world.clock.pending]).toEqual([[reason], 0]);
  });
});
