import { beforeEach, describe, expect, it } from 'vitest';
import { Sample } from '../../../src/domain/sample.ts';
import { LIST_MS, NodePolls } from '../../../src/panel/node-polls.ts';
import type { ServerAddress } from '../../../src/panel/requests.ts';
import type { Resources } from '../../../src/panel/responses.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const NODE = 'node-a';
const RESOURCES: Resources = { sample: new Sample(), suspended: false, badFields: 0 };
const server = (id: string, nodeId: string | undefined = NODE): ServerAddress => ({
  id,
  uuid: `uuid-${id}`,
  nodeId,
});

let clock: ManualClock;
let polls: NodePolls;
/**
 * The requests so far: the name of a single server, or of the server for which a list was
 * requested.
 */
let requests: string[];
let used: string[];
/** When the last used list was requested, and when it arrived. */
let times: unknown;
/** The servers in a list; undefined if the list fails. */
let listed: readonly string[] | undefined;
/** Once set, a request for a list ends when this settles. */
let gate: Promise<void> | undefined;

beforeEach(() => {
  clock = new ManualClock();
  requests = [];
  used = [];
  listed = ['a', 'b', 'c', 'd'];
  gate = undefined;
  polls = new NodePolls(clock, (id, list) => {
    used.push(id);
    times = list;
  });
});

function poll(
  one: ServerAddress,
  { usefulFrom = Number.NEGATIVE_INFINITY, signal = new AbortController().signal } = {},
): Promise<Resources> {
  return polls.poll({
    server: one,
    usefulFrom,
    signal,
    alone: async () => {
      requests.push(one.id);
      return RESOURCES;
    },
    list: async () => {
      requests.push(`list for ${one.id}`);
      const requestedAt = clock.now();
      await gate;
      if (signal.aborted) throw signal.reason;
      if (listed === undefined) throw new Error('the node is down');
      return { requestedAt, resources: new Map(listed.map((id) => [`uuid-${id}`, RESOURCES])) };
    },
  });
}

/** Polls three servers, so that lists of the node are used from then on. */
async function pollThree(): Promise<void> {
  for (const id of ['a', 'b', 'c']) await poll(server(id));
  requests = [];
  used = [];
}

/** Polls three servers, and waits until their list is too old. */
async function begin(): Promise<void> {
  await pollThree();
  await clock.advance(LIST_MS);
}

it('two servers of a node are polled one by one, and the third one gets a list', async () => {
  for (const id of ['a', 'b', 'c', 'd']) await poll(server(id));
  expect(requests).toEqual(['a', 'b', 'list for c']);
  expect(used).toEqual(['c', 'd']);
});

it.each([
  ['whose node is not known', { id: 'a', uuid: 'uuid-a' }],
  ['whose UUID is not known', { id: 'a', nodeId: NODE }],
  ['of another node', server('a', 'node-b')],
])('a server %s is polled alone', async (_what, one) => {
  await begin();
  await poll(one);
  expect(requests).toEqual(['a']);
});

it('one list is under way at a time, and all who wait for it use it', async () => {
  await begin();
  await Promise.all(['a', 'b', 'c', 'd'].map((id) => poll(server(id))));
  expect(requests).toEqual(['list for a']);
  expect(used).toEqual(['a', 'b', 'c', 'd']);
});

it('a poll is told when the list was requested', async () => {
  await begin();
  const requestedAt = clock.now();
  expect(await poll(server('a'))).toEqual({ ...RESOURCES, requestedAt });
  await clock.advance(LIST_MS - 1);
  expect(await poll(server('b'))).toEqual({ ...RESOURCES, requestedAt });
  await clock.advance(1);
  expect(await poll(server('c'))).toEqual({ ...RESOURCES, requestedAt: requestedAt + LIST_MS });
});

it('a list that is used later is known to have arrived before', async () => {
  await begin();
  gate = new Promise((resolve) => {
    clock.schedule(500, resolve);
  });
  const requestedAt = clock.now();
  const first = poll(server('a'));
  await clock.advance(500);
  await first;
  await clock.advance(5_000);
  await poll(server('b'));
  expect([requests, used]).toEqual([['list for a'], ['a', 'b']]);
  expect(times).toEqual({ requestedAt, arrivedAt: requestedAt + 500 });
});

it('a list that is under way when its node is forgotten proves nothing', async () => {
  await begin();
  gate = new Promise((resolve) => {
    clock.schedule(500, resolve);
  });
  const resources = poll(server('a'));
  polls.keepNodes(new Set());
  await clock.advance(500);
  expect(await resources).toMatchObject(RESOURCES);
  expect([requests, used]).toEqual([['list for a'], []]);
});

it('a list that is older than what is known of the server is not used', async () => {
  await begin();
  await poll(server('a'));
  await clock.advance(1_000);
  await poll(server('b'), { usefulFrom: clock.now() });
  expect(requests).toEqual(['list for a', 'list for b']);
});

it('no server uses a list twice', async () => {
  await begin();
  await poll(server('a'));
  await poll(server('a'));
  expect(requests).toEqual(['list for a', 'list for a']);
});

it('a server that is not in the list is polled alone', async () => {
  listed = ['a'];
  await begin();
  await poll(server('b'));
  expect(requests).toEqual(['list for b', 'b']);
});

it('servers of which few are polled any more are polled one by one', async () => {
  await pollThree();
  await clock.advance(60_000);
  await poll(server('a'));
  expect(requests).toEqual(['a']);
});

describe('a list that fails', () => {
  it('is followed by requests for each server, and by another list five minutes later', async () => {
    await begin();
    listed = undefined;
    await Promise.all(['a', 'b'].map((id) => poll(server(id))));
    expect(requests).toEqual(['list for a', 'a', 'b']);
    listed = ['a', 'b', 'c'];
    requests = [];
    for (let half = 1; half < 10; half += 1) {
      await clock.advance(30_000);
      for (const id of ['a', 'b', 'c']) await poll(server(id));
    }
    expect(requests.filter((one) => one.startsWith('list'))).toEqual([]);
    await clock.advance(30_000);
    await poll(server('a'));
    expect(requests.at(-1)).toBe('list for a');
  });

  it('is requested by another server if the poll for which it was made is withdrawn', async () => {
    await begin();
    let release: () => void = () => undefined;
    gate = new Promise((resolve) => {
      release = resolve;
    });
    const controller = new AbortController();
    const first = poll(server('a'), { signal: controller.signal });
    const second = poll(server('b'));
    controller.abort(new Error('the socket streams'));
    await expect(first).rejects.toThrow('the socket streams');
    gate = undefined;
    release();
    await second;
    expect(requests).toEqual(['list for a', 'list for b']);
    expect(used).toEqual(['b']);
  });
});

describe('a list that hangs', () => {
  const TIMEOUT_MS = 25_000;

  /**
   * Polls a server whose list hangs until its timeout. Returns the time at which its resources
   * arrived.
   */
  const polled = async (one: ServerAddress): Promise<number> => {
    const startedAt = clock.now();
    await poll(one);
    return clock.now() - startedAt;
  };

  beforeEach(async () => {
    for (const id of ['e', 'f', 'g']) await poll(server(id, 'node-b'));
    await begin();
    gate = new Promise((_, reject) => {
      clock.schedule(TIMEOUT_MS, () => reject(new Error('timed out')));
    });
  });

  it("holds its node's polls until its time-out, once, and no poll of another node", async () => {
    const first = Promise.all(['a', 'b'].map((id) => polled(server(id))));
    await clock.advance(5_000);
    const late = polled(server('c'));
    gate = undefined;
    listed = ['e', 'f', 'g'];
    expect(await polled(server('e', 'node-b'))).toBe(0);
    await clock.advance(TIMEOUT_MS);
    expect(await first).toEqual([TIMEOUT_MS, TIMEOUT_MS]);
    expect(await late).toBe(TIMEOUT_MS - 5_000);
    expect(requests).toEqual(['list for a', 'list for e', 'a', 'b', 'c']);
  });

  it('is followed by polls that wait for nothing, for five minutes', async () => {
    const first = polled(server('a'));
    await clock.advance(TIMEOUT_MS);
    await first;
    const failedAt = clock.now();
    for (let half = 0; half < 10; half += 1) {
      for (const id of ['a', 'b', 'c']) expect(await polled(server(id))).toBe(0);
      await clock.advance(30_000);
    }
    expect(clock.now() - failedAt).toBe(300_000);
    expect(requests.filter((one) => one.startsWith('list'))).toEqual(['list for a']);
    gate = undefined;
    expect(await polled(server('a'))).toBe(0);
    expect(requests.at(-1)).toBe('list for a');
  });
});

it('forgets a node that no server has any more', async () => {
  await begin();
  polls.keepNodes(new Set(['node-b']));
  await poll(server('a'));
  expect(requests).toEqual(['a']);
});
