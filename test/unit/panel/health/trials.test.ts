import { describe, expect, it } from 'vitest';
import { mayConnect } from '../../../../src/panel/health/holds.ts';
import { pollsSubject, socketsSubject } from '../../../../src/panel/subjects.ts';
import {
  blamed,
  type HealthSetup,
  healthOf,
  SERVERS,
  settled,
  withOutage,
} from '../../../support/health-world.ts';

describe('a trial of a node’s sockets', () => {
  async function suspected() {
    const world = healthOf();
    for (const server of ['a', 'b', 'c']) world.socketEnds(server, 'node_connection');
    await settled(world);
    return world;
  }

  it('is the session’s of a server that didn’t fail there, and is told', async () => {
    const world = await suspected();
    expect(world.health.socketTrial('d')).toMatchObject({ subject: socketsSubject('n1'), isFresh: false });
    expect(world.changes).toContainEqual({ of: 'trial', server: 'd' });
    expect(world.health.outage(socketsSubject('n1'))?.trial).toMatchObject({ server: 'd' });
  });

  it('that fails completes the blame, and the next comes 15 s after its start', async () => {
    const world = await suspected();
    await world.clock.advance(2_000);
    world.socketEnds('d', 'node_connection');
    await settled(world);
    expect([blamed(world), world.health.socketTrial('d')]).toEqual([[socketsSubject('n1')], undefined]);
    expect(mayConnect(world.health, 'd', 'n1')).toBe(false);
    expect(mayConnect(world.health, 'd', undefined)).toBe(true);
    await world.clock.advance(12_999);
    expect(SERVERS.filter((server) => world.health.socketTrial(server) !== undefined)).toEqual([]);
    await world.clock.advance(1);
    const trying = SERVERS.find((server) => world.health.socketTrial(server) !== undefined);
    expect(world.health.socketTrial(trying ?? '')).toMatchObject({ isFresh: true });
    expect(mayConnect(world.health, trying ?? '', 'n1')).toBe(true);
  });

  it('that fails dates the problem back to the first suspicion, not to the blame', async () => {
    const world = await suspected();
    const before = world.clock.now();
    expect(world.health.reading(socketsSubject('n1'))).toBeUndefined();
    await world.clock.advance(2_000);
    world.socketEnds('d', 'node_connection');
    await settled(world);
    const { cause, since = Number.NaN } =
      world.health.reading(pollsSubject('n1'), socketsSubject('n1')) ?? {};
    expect(cause).toBe('node_connection');
    expect(since).toBeLessThanOrEqual(before);
    await world.clock.advance(60_000);
    expect(world.health.reading(socketsSubject('n1'))?.since).toBe(since);
  });

  it('that works ends the outage', async () => {
    const world = await suspected();
    world.socketEnds('d');
    await settled(world);
    expect([withOutage(world), world.health.socketTrial('d')]).toEqual([[], undefined]);
    expect(world.changes.filter(({ of }) => of === 'trial')).toHaveLength(1);
  });

  it('ends if something else proves that the node works', async () => {
    const world = await suspected();
    world.socketEnds('a');
    await settled(world);
    expect([withOutage(world), world.health.socketTrial('d')]).toEqual([[], undefined]);
    // The session of the chosen server learns of its trial.
    expect(world.changes.filter(({ of }) => of === 'trial')).toHaveLength(2);
  });

  it('ends with its server, and is another’s after a gap', async () => {
    const world = await suspected();
    world.use(['a', 'b', 'c']);
    await settled(world);
    expect(world.health.outage(socketsSubject('n1'))).toMatchObject({ trial: undefined, trials: 0 });
    await world.clock.advance(15_000);
    expect(['a', 'b', 'c'].filter((server) => world.health.socketTrial(server) !== undefined)).toHaveLength(
      1,
    );
  });

  it('proves nothing if its attempt says nothing', async () => {
    const world = await suspected();
    world.health.socketEnded('d', undefined);
    await settled(world);
    expect(world.health.outage(socketsSubject('n1'))).toMatchObject({
      blamedAt: undefined,
      trial: undefined,
      trials: 0,
    });
  });

  it('proves nothing if its server has moved to another node', async () => {
    const nodes = new Map(SERVERS.map((server) => [server, 'n1']));
    const world = healthOf({ nodeFor: (server) => nodes.get(server) });
    for (const server of ['a', 'b', 'c']) world.socketEnds(server, 'node_connection');
    await settled(world);
    nodes.set('d', 'n2');
    world.socketEnds('d', 'node_connection');
    await settled(world);
    expect(world.health.outage(socketsSubject('n1'))).toMatchObject({ blamedAt: undefined, trials: 0 });
  });

  it('is none of the failure that raised the suspicion', () => {
    const world = healthOf();
    for (const server of ['a', 'b', 'c']) world.socketEnds(server, 'node_connection');
    expect(blamed(world)).toEqual([]);
  });
});

describe('a trial of a node’s polls', () => {
  async function suspected(options?: HealthSetup) {
    const world = healthOf(options);
    for (const server of ['a', 'b', 'c']) world.callEnds('resources', server, 'node_unreachable');
    await settled(world);
    return world;
  }

  it('is a call of its own, which tries them', async () => {
    const world = await suspected();
    expect(world.asked).toMatchObject([
      { path: 'resources', server: 'd', tries: pollsSubject('n1'), needsRoom: false },
    ]);
    expect(world.health.outage(pollsSubject('n1'))?.trial).toMatchObject({ server: 'd' });
  });

  it('that fails completes the blame', async () => {
    const world = await suspected();
    world.callEnds('resources', 'd', 'node_unreachable');
    world.asked[0]?.end(new Error('no data'));
    await settled(world);
    expect(blamed(world)).toEqual([pollsSubject('n1')]);
    await world.clock.advance(15_000);
    expect(world.asked).toHaveLength(2);
  });

  it('that proves nothing, because no outcome was recorded, is made again', async () => {
    const world = await suspected();
    world.asked[0]?.end(new Error('rate limit'));
    await settled(world);
    expect([withOutage(world), blamed(world)]).toEqual([[pollsSubject('n1')], []]);
    await world.clock.advance(15_000);
    expect(world.asked).toHaveLength(2);
  });

  it('that works ends the outage', async () => {
    const world = await suspected();
    world.callEnds('resources', 'd');
    world.asked[0]?.end();
    await settled(world);
    expect(withOutage(world)).toEqual([]);
  });

  it('is withdrawn if something else ends the outage', async () => {
    const world = await suspected();
    world.callEnds('resources', 'a');
    expect(world.asked[0]?.signal.aborted).toBe(true);
    await world.clock.advance(60_000);
    expect(world.asked).toHaveLength(1);
  });

  it('comes later if none can be made', async () => {
    const world = await suspected({ enqueues: false });
    expect(world.health.outage(pollsSubject('n1'))).toMatchObject({ trial: undefined, trials: 0 });
    expect(world.health.isJudging).toBe(true);
  });

  it('is withdrawn at the end', async () => {
    const world = await suspected();
    world.health.stop();
    expect(world.asked[0]?.signal.aborted).toBe(true);
    world.asked[0]?.end(new Error('stopped'));
    await world.clock.advance(600_000);
    expect([world.asked.length, world.clock.pending]).toEqual([1, 0]);
  });
});
