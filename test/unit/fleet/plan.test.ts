import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type PlanRequest, planCollection, polledStalenessMs } from '../../../src/fleet/plan.ts';

const request = (changes: Partial<PlanRequest>): PlanRequest => ({
  socketOnly: 0,
  either: 0,
  pollOnly: 0,
  callsPerMinute: 48,
  pollIntervalMs: 30_000,
  ...changes,
});

describe('a configuration that the budget carries', () => {
  it.each<[string, Partial<PlanRequest>, object]>([
    ['no server', {}, { sockets: 0, polls: 0, callsPerMinute: 0 }],
    ['one server', { either: 1 }, { sockets: 1, polls: 0, callsPerMinute: 0.125 }],
    ['as many sockets as it can renew', { either: 384 }, { sockets: 384, polls: 0, callsPerMinute: 48 }],
    ['as many polls as it has calls', { pollOnly: 24 }, { sockets: 0, polls: 24, callsPerMinute: 48 }],
    [
      'all three modes',
      { socketOnly: 8, either: 8, pollOnly: 4 },
      { sockets: 16, polls: 4, callsPerMinute: 10 },
    ],
  ])('%s', (_, changes, plan) => {
    const planned = planCollection(request(changes));
    expect(planned).toMatchObject({ ...plan, fits: true, pollIntervalMs: 30_000 });
    expect(planned.wantedCallsPerMinute).toBe(planned.callsPerMinute);
  });
});

describe('a configuration that needs more than the budget', () => {
  it('renews sockets with 80 % of it and polls the rest in turn with what is left', () => {
    const plan = planCollection(request({ either: 1_000 }));
    expect(plan).toMatchObject({ fits: false, sockets: 307, polls: 693, wantedCallsPerMinute: 125 });
    expect(plan.callsPerMinute).toBeCloseTo(48, 6);
    // 693 polls with 48 - 307 / 8 calls a minute.
    expect(plan.pollIntervalMs / 60_000).toBeCloseTo(693 / 9.625, 6);
  });

  it('gives servers that may only stream a socket before all others', () => {
    expect(planCollection(request({ socketOnly: 300, either: 1_000 }))).toMatchObject({
      sockets: 307,
      polls: 993,
    });
    expect(planCollection(request({ socketOnly: 350, either: 1_000 }))).toMatchObject({
      sockets: 350,
      polls: 1_000,
    });
  });

  it('keeps a fifth for polls even where sockets alone take more than there is', () => {
    const plan = planCollection(request({ socketOnly: 500, pollOnly: 10 }));
    expect(plan).toMatchObject({ fits: false, sockets: 500, polls: 10 });
    expect(plan.pollIntervalMs / 60_000).toBeCloseTo(10 / 9.6, 6);
    expect(plan.callsPerMinute).toBeCloseTo(500 / 8 + 9.6, 6);
  });

  it('does not take sockets away because polls are too many', () => {
    const plan = planCollection(request({ either: 10, pollOnly: 100 }));
    expect(plan).toMatchObject({ sockets: 10, polls: 100 });
    expect(plan.pollIntervalMs / 60_000).toBeCloseTo(100 / 46.75, 6);
  });
});

describe('any plan', () => {
  const requests = fc.record<PlanRequest>({
    socketOnly: fc.oneof(fc.constant(0), fc.nat({ max: 3_000 })),
    either: fc.nat({ max: 3_000 }),
    pollOnly: fc.nat({ max: 3_000 }),
    callsPerMinute: fc.double({ min: 0.5, max: 2_000, noNaN: true }),
    pollIntervalMs: fc.integer({ min: 20_000, max: 3_600_000 }),
  });

  it('accounts for every server', () => {
    fc.assert(
      fc.property(requests, (asked) => {
        const { sockets, polls } = planCollection(asked);
        expect(sockets + polls).toBe(asked.socketOnly + asked.either + asked.pollOnly);
        expect(sockets).toBeGreaterThanOrEqual(asked.socketOnly);
        expect(sockets).toBeLessThanOrEqual(asked.socketOnly + asked.either);
      }),
    );
  });

  it('costs no more than the budget, unless servers that may only stream force it', () => {
    fc.assert(
      fc.property(requests, (asked) => {
        const { callsPerMinute, sockets } = planCollection(asked);
        const forced = sockets === asked.socketOnly && sockets / 8 > asked.callsPerMinute * 0.8;
        const most = forced ? sockets / 8 + asked.callsPerMinute * 0.2 : 0;
        expect(callsPerMinute).toBeLessThanOrEqual(Math.max(asked.callsPerMinute, most) * (1 + 1e-9));
      }),
    );
  });

  it('never polls oftener than was asked for, and says whether it is all that was asked for', () => {
    fc.assert(
      fc.property(requests, (asked) => {
        const plan = planCollection(asked);
        expect(plan.pollIntervalMs).toBeGreaterThanOrEqual(asked.pollIntervalMs);
        expect(Number.isFinite(plan.pollIntervalMs)).toBe(true);
        expect(plan.fits).toBe(plan.wantedCallsPerMinute <= asked.callsPerMinute);
        if (plan.fits) expect(plan.sockets).toBe(asked.socketOnly + asked.either);
      }),
    );
  });

  it('streams no fewer servers when the budget grows', () => {
    fc.assert(
      fc.property(requests, fc.double({ min: 1, max: 10, noNaN: true }), (asked, factor) => {
        const richer = { ...asked, callsPerMinute: asked.callsPerMinute * factor };
        expect(planCollection(richer).sockets).toBeGreaterThanOrEqual(planCollection(asked).sockets);
      }),
    );
  });
});

it.each([
  [60_000, 30_000, 60_000],
  [60_000, 20_000, 60_000],
  [60_000, 30_001, 75_002.5],
  [60_000, 480_000, 1_200_000],
  [10_000, 30_000, 75_000],
])('with a staleness of %i ms and polls every %i ms, a polled sample is stale after %i ms', (...row) => {
  const [stalenessMs, pollIntervalMs, polledMs] = row;
  expect(polledStalenessMs(stalenessMs, pollIntervalMs)).toBe(polledMs);
});
