import { beforeEach, describe, expect, it } from 'vitest';
import type { PanelFleet } from '../../../src/fleet/panel-fleet.ts';
import { type PlannedServer, planPanel } from '../../../src/fleet/plan.ts';
import { PanelError } from '../../../src/panel/errors.ts';
import { LANES, type Shares } from '../../../src/panel/fair-share.ts';
import { FleetBench, named, RESOURCES } from '../../support/fleet-bench.ts';

const MINUTE = 60_000;
const server = (changes: Partial<PlannedServer> = {}): PlannedServer => ({
  target: { mode: 'auto' },
  standing: 'planned',
  isConnecting: false,
  ...changes,
});
const times = (count: number, one: PlannedServer) => Array.from({ length: count }, () => one);
const budget = {
  budgetPerMinute: 96,
  listingPerMinute: 0,
  backupsPerMinute: 0,
  pollIntervalMs: 30_000,
  stalenessMs: 60_000,
};

describe('the plan of a panel', () => {
  it('polls servers in fallback as often as the budget allows', () => {
    const plan = planPanel(times(200, server({ standing: 'fallback' })), budget);
    expect(plan).toMatchObject({ sockets: 0, polls: 200, turns: 0, fits: false });
    // Retries take 2.5 % of the budget.
    expect(plan.pollIntervalMs).toBeCloseTo((200 / (96 * 0.975)) * MINUTE, 3);
    expect(plan.callsPerMinute).toBeCloseTo(96, 6);
  });

  it('gives servers in fallback no turns, and lost servers neither turns nor polls', () => {
    const plan = planPanel(
      [
        ...times(1_000, server()),
        ...times(100, server({ standing: 'fallback' })),
        ...times(50, server({ standing: 'lost' })),
      ],
      budget,
    );
    expect(plan).toMatchObject({ turns: 1_000, polls: 100 });
  });

  it('reserves calls for the listing, backups and retries', () => {
    const plan = planPanel(times(1_000, server()), { ...budget, listingPerMinute: 2, backupsPerMinute: 60 });
    expect(plan.backupsPerMinute).toBeCloseTo(9.6, 6);
    expect(plan.shares.listing).toBeCloseTo(4 / 96, 6);
    expect(plan.shares.backups).toBeCloseTo((9.6 * 1.5) / 96, 6);
    expect(LANES.reduce((sum, lane) => sum + plan.shares[lane], 0)).toBeLessThanOrEqual(1 + 1e-9);
  });

  it('gives backups all the calls that they need if the servers leave enough', () => {
    const plan = planPanel(times(3_000, server()), { ...budget, budgetPerMinute: 640, backupsPerMinute: 50 });
    expect(plan.backupsPerMinute).toBe(50);
    expect(plan.fits).toBe(true);
  });

  it('stretches polls while sockets are still to be opened', () => {
    const polled = times(60, server({ target: { mode: 'poll' } }));
    const connecting = planPanel([...polled, ...times(50, server({ isConnecting: true }))], budget);
    const connected = planPanel([...polled, ...times(50, server())], budget);
    expect(connecting.isTransitional).toBe(true);
    expect(connected.isTransitional).toBe(false);
    expect(connecting.pollIntervalMs).toBeGreaterThan(connected.pollIntervalMs * 1.3);
  });
});

describe('a fleet in fallback', () => {
  const servers = Array.from({ length: 60 }, (_, index) => named(String(10_000_000 + index)));
  let bench: FleetBench;
  let fleet: PanelFleet;
  let shares: Shares | undefined;

  beforeEach(() => {
    bench = new FleetBench();
    bench.gateway.limitPerMinute = 30;
    bench.gateway.setShares = (next) => {
      shares = next;
    };
    bench.gateway.answerCredentials = () =>
      Promise.reject(
        new PanelError(
          { cause: 'no_console_permission', detail: 'no console for you' },
          { status: 403, fromPanel: true },
        ),
      );
    bench.gateway.answerResources = () => Promise.resolve(RESOURCES);
    fleet = bench.create(servers, { ratePinned: true });
    fleet.start();
  });

  it('is planned again, with the poll interval, staleness and shares that its polls need', async () => {
    expect(fleet.reading().plan).toMatchObject({ sockets: 60, polls: 0 });
    await bench.clock.advance(MINUTE);
    const { plan } = fleet.reading();
    expect(plan).toMatchObject({ sockets: 0, polls: 60 });
    expect(plan.pollIntervalMs).toBeGreaterThan(2 * MINUTE);
    expect(fleet.records[0]?.staleness.poll).toBe(plan.pollIntervalMs * 2.5);
    expect(shares?.poll).toBeGreaterThan(0.9);
    await fleet.stop();
  });

  it('is logged once, and not for each server', async () => {
    await bench.clock.advance(10 * MINUTE);
    const plans = bench.log.lines.filter(({ message }) => message.includes('budget too small'));
    expect(plans).toHaveLength(1);
    await fleet.stop();
    expect(bench.clock.pending).toBe(0);
  });

  it('has the problem "budget_too_small" with numbers, once it lasts, until the budget is large enough', async () => {
    const causes = () => fleet.reading().problems.map(({ cause }) => cause);
    await bench.clock.advance(MINUTE);
    // A restart of a node causes no problem.
    expect([fleet.reading().plan.polls, causes()]).toEqual([60, []]);
    await bench.clock.advance(2 * MINUTE);
    expect(fleet.reading().problems).toEqual([
      {
        cause: 'budget_too_small',
        detail:
          '60 servers need 120.8 API calls per minute, but requests_per_minute allows 30: 60 servers are polled every 2.1 min',
      },
    ]);
    bench.gateway.allows(200);
    expect(causes()).toEqual([]);
    await fleet.stop();
  });

  it('streams again as soon as consoles are granted', async () => {
    await bench.clock.advance(MINUTE);
    bench.gateway.answerCredentials = (id) =>
      Promise.resolve({ token: id, socketUrl: `wss://node/${id}`, lifetimeMs: 600_000 });
    await bench.clock.advance(6 * MINUTE);
    expect(fleet.reading().plan).toMatchObject({ sockets: 60, polls: 0 });
    expect(fleet.records.every(({ status }) => status.condition === 'streaming')).toBe(true);
    await fleet.stop();
  });
});

describe('a node that recovers', () => {
  it('has all its servers retried as soon as the first of them streams', async () => {
    const bench = new FleetBench();
    bench.gateway.limitPerMinute = 1_000;
    const fleet = bench.create(
      Array.from({ length: 20 }, (_, index) => named(String(10_000_000 + index))),
      {
        ratePinned: true,
      },
    );
    let isDead = false;
    bench.gateway.answerCredentials = (id) =>
      isDead
        ? Promise.reject(
            new PanelError({ cause: 'node_error', detail: 'no' }, { status: 502, fromPanel: true }),
          )
        : Promise.resolve({ token: id, socketUrl: `wss://node/${id}`, lifetimeMs: 600_000 });
    fleet.start();
    await bench.clock.advance(1_000);
    isDead = true;
    for (const socket of bench.sockets) socket.drops();
    // Their tokens expire, and the back-off grows to minutes.
    await bench.clock.advance(40 * MINUTE);
    isDead = false;
    let first: number | undefined;
    for (let second = 0; second < 400 && first === undefined; second += 1) {
      await bench.clock.advance(1_000);
      if (fleet.records.some(({ status }) => status.condition === 'streaming')) first = second;
    }
    await bench.clock.advance(2_000);
    expect(fleet.records.filter(({ status }) => status.condition === 'streaming')).toHaveLength(20);
    await fleet.stop();
  });

  it('has its other servers cleared as suspects when a poll of one of them is answered', async () => {
    const bench = new FleetBench();
    bench.gateway.limitPerMinute = 1_000;
    const ids = Array.from({ length: 4 }, (_, index) => String(10_000_000 + index));
    const fleet = bench.create(
      ids.map((id, index) => ({ ...named(id), mode: 'poll' as const, node: index < 3 ? 'fra-1' : 'fra-2' })),
      { ratePinned: true },
    );
    let isDead = true;
    bench.gateway.answerResources = () =>
      isDead
        ? Promise.reject(new PanelError({ cause: 'node_unreachable', detail: 'no' }, { status: 504 }))
        : Promise.resolve(RESOURCES);
    fleet.start();
    await bench.clock.advance(2 * MINUTE);
    expect(bench.gateway.cleared).toEqual([]);
    isDead = false;
    await bench.clock.advance(6 * MINUTE);
    expect(bench.gateway.cleared).toHaveLength(2);
    expect(bench.gateway.cleared).not.toContain(ids[3]);
    await fleet.stop();
  });
});
