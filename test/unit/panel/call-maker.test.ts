import { describe, expect, it } from 'vitest';
import { CallMaker } from '../../../src/panel/call-maker.ts';
import type { CallEnded } from '../../../src/panel/health/health.ts';
import { PanelError } from '../../../src/panel/panel-error.ts';
import { NO_DATA } from '../../../src/panel/responses.ts';
import type { Call } from '../../../src/panel/scheduler/call.ts';
import type { Path } from '../../../src/panel/subjects.ts';
import { type Deferred, deferred } from '../../support/deferred.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const REFUSED = { cause: 'not_found', detail: 'no such server' } as const;

/** A maker of a single call, whose end the test determines. */
function making(path: Path = 'resources', tries?: 'panel') {
  const clock = new ManualClock();
  const response: Deferred<unknown> = deferred();
  const ends: CallEnded[] = [];
  const learned: unknown[] = [];
  const scope = new AbortController();
  const maker = new CallMaker({
    clock,
    api: {
      get: async (_path, _what, signal) => {
        signal.addEventListener('abort', () => response.reject(signal.reason as Error));
        return { value: (await response.promise) as never };
      },
    },
    rate: {
      learnFrom: (call, asked) => {
        learned.push(call);
        return asked;
      },
    },
    ended: (end) => ends.push(end),
  });
  const call: Call = { path, server: 'a', node: () => 'n', deadline: 0, tries: () => tries };
  const made = maker.make(call, { id: 'a' }, scope.signal);
  made.catch(() => undefined);
  return { clock, maker, response, ends, learned, scope, made, call };
}

describe('the end of a call', () => {
  it.each<[string, Path, unknown, CallEnded['problem']]>([
    ['with a sample', 'resources', { sample: {}, suspended: false }, undefined],
    ['of a suspended server', 'resources', { sample: undefined, suspended: true }, undefined],
    ['without data is a problem of the node', 'resources', { sample: undefined, suspended: false }, NO_DATA],
    ['of another path has no problem', 'backups', { suspended: false }, undefined],
  ])('%s', async (_what, path, value, problem) => {
    const { clock, response, ends, learned, made, call } = making(path);
    const startedAt = clock.now();
    await clock.advance(5_000);
    response.resolve(value);
    await expect(made).resolves.toBe(value);
    expect(ends).toEqual([{ path, server: 'a', startedAt, problem, fromPanel: true }]);
    expect(learned).toEqual([call]);
  });

  it.each([
    [
      'of the panel',
      new PanelError(REFUSED, { status: 404, fromPanel: true }),
      { problem: REFUSED, fromPanel: true },
    ],
    ['of a proxy', new PanelError(REFUSED, { status: 404 }), { problem: REFUSED, fromPanel: false }],
    [
      'of the exporter',
      new Error('a bug'),
      { problem: { cause: 'unexpected', detail: 'a bug' }, fromPanel: false },
    ],
  ])('with an error %s has its problem', async (_what, error, expected) => {
    const { response, ends, made } = making();
    response.reject(error);
    await expect(made).rejects.toBe(error);
    expect(ends).toEqual([expect.objectContaining(expected)]);
  });

  it.each([
    ['is none once it is withdrawn', new Error('withdrawn'), 0],
    ['counts if the panel’s error arrives nevertheless', new PanelError(REFUSED), 1],
  ])('%s', async (_what, reason, ends) => {
    const world = making();
    world.scope.abort(reason);
    await expect(world.made).rejects.toBe(reason);
    expect(world.ends).toHaveLength(ends);
  });

  it('is ignored once the key or the connection has changed', async () => {
    const { maker, response, ends, made } = making();
    maker.beginAgain();
    response.resolve({});
    await made;
    expect(ends).toEqual([]);
  });
});

describe('a canary', () => {
  it('fails after ten seconds, and any other call only when its request does', async () => {
    const [canary, other] = [making('listing', 'panel'), making('listing')];
    await canary.clock.advance(9_999);
    expect(canary.ends).toEqual([]);
    await canary.clock.advance(1);
    const problem = { cause: 'timeout', detail: 'no response to a listing call within 10 s' };
    await expect(canary.made).rejects.toMatchObject({ problem });
    expect(canary.ends).toEqual([expect.objectContaining({ problem, fromPanel: false })]);
    await other.clock.advance(60_000);
    expect(other.ends).toEqual([]);
  });
});
