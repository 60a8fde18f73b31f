import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { INTERNAL_ERRORS } from '../../../../src/domain/internal-errors.ts';
import type { RenderedBody } from '../../../../src/metrics/rendered-body.ts';
import { Viewers } from '../../../../src/status-page/data/viewers.ts';
import { type Deferred, deferred } from '../../../support/deferred.ts';
import { eventually } from '../../../support/eventually.ts';

const decoder = new TextDecoder();

interface Reader {
  next(): Promise<string | undefined>;
  leave(): Promise<void>;
}

const hold = () => () => {};

function watch(viewers: Viewers, client = 'somebody', cut = () => {}): Reader {
  const reader = viewers.open({ client, cut, hold }).getReader();
  return {
    next: async () => {
      const { value } = await reader.read();
      return value === undefined ? undefined : decoder.decode(value);
    },
    leave: () => reader.cancel(),
  };
}

const body = (text: string): RenderedBody => ({ chunks: [Buffer.from(text)], bytes: text.length });

/** Viewers, and how often the complete state was rendered for them. */
function setUp(max?: number) {
  const made = { whole: 0 };
  const viewers = new Viewers(async () => body(`whole ${(made.whole += 1)}`), max);
  const send = (change: string) => viewers.update(body(change));
  return { viewers, made, send };
}

describe('viewers', () => {
  it('lose only their own stream when it fails, which is reported', async () => {
    const reported: unknown[] = [];
    onTestFinished(INTERNAL_ERRORS.listen((one) => reported.push(one)));
    const error = new Error('a bug');
    const { viewers, send } = setUp();
    let isFailing = false;
    const cut = vi.fn<() => void>();
    const failing = viewers.open({
      client: 'somebody',
      cut,
      hold: () => {
        if (isFailing) throw error;
        return () => {};
      },
    });
    const reader = failing.getReader();
    const other = watch(viewers);
    await Promise.all([reader.read(), other.next()]);
    isFailing = true;
    void reader.read();
    const next = other.next();
    send('change');
    expect(await next).toBe('change');
    expect([cut.mock.calls.length, viewers.count, reported]).toEqual([1, 1, [error]]);
  });

  it('get the complete state, and then the changes', async () => {
    const { viewers, send } = setUp();
    const one = watch(viewers);
    expect(await one.next()).toBe('whole 1');
    const next = one.next();
    send('change');
    expect(await next).toBe('change');
  });

  it('that read slowly get no changes, and the complete state when they continue', async () => {
    const { viewers, send } = setUp();
    const [slow, quick] = [watch(viewers), watch(viewers)];
    await Promise.all([slow.next(), quick.next()]);
    for (const change of ['a', 'b', 'c']) {
      const next = quick.next();
      send(change);
      expect(await next).toBe(change);
    }
    expect(await slow.next()).toBe('whole 3');
    const next = slow.next();
    send('d');
    expect(await next).toBe('d');
  });

  it('hold each event until they have consumed it or are gone', async () => {
    const { viewers, send } = setUp();
    const held = new Set<object>();
    const counting = (event: object) => {
      held.add(event);
      return () => void held.delete(event);
    };
    const reader = viewers.open({ client: 'somebody', cut: () => {}, hold: counting }).getReader();
    await reader.read();
    expect([...held]).toEqual([expect.objectContaining({ bytes: 'whole 1'.length })]);
    const [first] = held;
    const next = reader.read();
    send('change');
    await next;
    expect([...held]).toEqual([expect.not.objectContaining(first ?? {})]);
    await reader.cancel();
    expect(held.size).toBe(0);
  });

  it('that miss an update while the complete state is rendered get it anew', async () => {
    const renders: Deferred<RenderedBody>[] = [];
    const viewers = new Viewers(() => {
      const render = deferred<RenderedBody>();
      renders.push(render);
      return render.promise;
    });
    const viewer = watch(viewers);
    const first = viewer.next();
    await eventually(() => expect(renders).toHaveLength(1));
    viewers.update(body('missed'));
    renders[0]?.resolve(body('old'));
    expect(await first).toBe('old');
    const second = viewer.next();
    await eventually(() => expect(renders).toHaveLength(2));
    renders[1]?.resolve(body('new'));
    expect(await second).toBe('new');
  });

  it('that leave while the complete state is rendered get nothing', async () => {
    const render = deferred<RenderedBody>();
    const full = vi.fn<() => Promise<RenderedBody>>(() => render.promise);
    const held = vi.fn<() => () => void>(hold);
    const reader = new Viewers(full).open({ client: 'a', cut: () => {}, hold: held }).getReader();
    const never = reader.read();
    await eventually(() => expect(full).toHaveBeenCalled());
    await reader.cancel();
    render.resolve(body('whole'));
    expect(await never).toMatchObject({ done: true });
    await new Promise((resolve) => setImmediate(resolve));
    expect(held).not.toHaveBeenCalled();
  });

  it('are limited in number, and one that leaves makes room', async () => {
    const { viewers } = setUp(2);
    const cut = vi.fn<(client: string) => void>();
    const [first] = ['a', 'b'].map((client) => watch(viewers, client, () => cut(client)));
    await first?.leave();
    watch(viewers, 'c', () => cut('c'));
    expect([viewers.count, cut.mock.calls]).toEqual([2, []]);
    watch(viewers, 'd', () => cut('d'));
    expect([viewers.count, cut.mock.calls]).toEqual([2, [['b']]]);
  });

  it('lose the oldest stream of the client with the most streams to any new one', () => {
    const { viewers } = setUp(5);
    const cut: string[] = [];
    const streams = ['one', 'many 1', 'many 2', 'many 3', 'two 1', 'two 2', 'new', 'many 4', 'last'];
    for (const name of streams) watch(viewers, name.split(' ')[0], () => cut.push(name));
    expect(cut).toEqual(['many 1', 'many 2', 'many 3', 'two 1']);
  });

  it('that are replaced see the end of their stream, and get nothing more', async () => {
    const { viewers, send } = setUp(1);
    const first = watch(viewers, 'a');
    await first.next();
    const second = watch(viewers, 'b');
    send('change');
    expect(await first.next()).toBeUndefined();
    await first.leave();
    expect(await second.next()).toBe('whole 2');
    expect(viewers.count).toBe(1);
  });

  it('are always admitted, and lose streams to another client only if they have the most streams', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), fc.array(fc.nat(4), { maxLength: 60 }), (max, clients) => {
        const { viewers } = setUp(max);
        const held = new Map<string, number>();
        const add = (client: string, by: number) => held.set(client, (held.get(client) ?? 0) + by);
        for (const number of clients) {
          const client = `${number}`;
          add(client, 1);
          viewers.open({
            client,
            hold,
            cut: () => {
              expect(held.get(client)).toBe(Math.max(...held.values()));
              add(client, -1);
            },
          });
          expect(viewers.count).toBeLessThanOrEqual(max);
        }
      }),
    );
  });

  it('see the end of the stream', async () => {
    const { viewers } = setUp();
    const one = watch(viewers);
    await one.next();
    viewers.close();
    expect(await one.next()).toBeUndefined();
    expect(viewers.count).toBe(0);
  });
});
