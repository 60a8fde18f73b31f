import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type PlanRequest, planCollection, polledStalenessMs } from '../../../src/fleet/plan.ts';

const request = (changes: Partial<PlanRequest>): PlanRequest => ({
  socketOnly: 0,
  either: 0,
  pollOnly: 0,
  callsPerMinute: 48,
  pollIntervalMs: 30_000,
  stalenessMs: 60_000,
  ...changes,
});

describe('a configuration within the budget', () => {
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

describe('a configuration beyond the budget', () => {
  it('lets servers take turns, with as many sockets as the calls can keep renewed for ten minutes', () => {
    const plan = planCollection(request({ either: 1_000 }));
    expect(plan).toMatchObject({
      fits: false,
      sockets: 0,
      polls: 0,
      turns: 1_000,
      wantedCallsPerMinute: 125,
    });
    // Nine tenths of 48 calls per minute, each for ten minutes.
    expect(plan.turnSockets).toBe(432);
    expect(plan.callsPerMinute).toBeCloseTo(43.2, 6);
    // With one turn in three, two turns of ten minutes pass between, plus a quarter as a margin.
    expect(plan.longestAgeMs / 60_000).toBe(1 + 2 * 10 * 1.25);
  });

  it('needs no pause between turns if the budget is almost sufficient', () => {
    const plan = planCollection(request({ either: 400 }));
    expect(plan).toMatchObject({ fits: false, turns: 400, turnSockets: 400, longestAgeMs: 60_000 });
  });

  it('gives servers in mode socket their own sockets', () => {
    const plan = planCollection(request({ socketOnly: 300, either: 1_000 }));
    expect(plan).toMatchObject({ sockets: 300, turns: 1_000 });
    expect(plan.turnSockets).toBe(Math.floor((48 - 300 / 8) * 0.9 * 10));
  });

  it('leaves one turn at a time if servers in mode socket use the whole budget', () => {
    expect(planCollection(request({ socketOnly: 500, either: 10 }))).toMatchObject({
      sockets: 500,
      turnSockets: 1,
    });
  });

  it('keeps a fifth for polls even if sockets need more than the budget', () => {
    const plan = planCollection(request({ socketOnly: 500, pollOnly: 10 }));
    expect(plan).toMatchObject({ fits: false, sockets: 500, polls: 10 });
    expect(plan.pollIntervalMs / 60_000).toBeCloseTo(10 / 9.6, 6);
    expect(plan.callsPerMinute).toBeCloseTo(500 / 8 + 9.6, 6);
  });

  it('does not remove sockets because there are too many polls', () => {
    const plan = planCollection(request({ either: 10, pollOnly: 100 }));
    expect(plan).toMatchObject({ sockets: 10, polls: 100, turns: 0 });
    expect(plan.pollIntervalMs / 60_000).toBeCloseTo(100 / 46.75, 6);
  });
});

describe('every plan', () => {
  const requests = fc.record<PlanRequest>({
    socketOnly: fc.oneof(fc.constant(0), fc.nat({ max: 3_000 })),
    either: fc.nat({ max: 3_000 }),
    pollOnly: fc.nat({ max: 3_000 }),
    callsPerMinute: fc.double({ min: 0.5, max: 2_000, noNaN: true }),
    pollIntervalMs: fc.integer({ min: 20_000, max: 3_600_000 }),
    stalenessMs: fc.integer({ min: 1_000, max: 600_000 }),
  });

  it('accounts for every server', () => {
    fc.assert(
      fc.property(requests, (asked) => {
        const { sockets, polls, turns, turnSockets } = planCollection(asked);
        expect(sockets + polls + turns).toBe(asked.socketOnly + asked.either + asked.pollOnly);
        expect(turnSockets).toBeLessThanOrEqual(turns);
        expect(turnSockets > 0).toBe(turns > 0);
      }),
    );
  });

  it('costs no more than the budget, unless servers in mode socket force it', () => {
    fc.assert(
      fc.property(requests, (asked) => {
        const { callsPerMinute } = planCollection(asked);
        // In addition to forced sockets, polls keep their fifth, and one turn at a time costs a tenth of a call.
        const forced = asked.socketOnly / 8 + asked.callsPerMinute * 0.2 + 0.1;
        expect(callsPerMinute).toBeLessThanOrEqual(Math.max(asked.callsPerMinute, forced) * (1 + 1e-9));
      }),
    );
  });

  it('never polls more often than requested, and says whether it satisfies the request', () => {
    fc.assert(
      fc.property(requests, (asked) => {
        const plan = planCollection(asked);
        expect(plan.pollIntervalMs).toBeGreaterThanOrEqual(asked.pollIntervalMs);
        expect(Number.isFinite(plan.pollIntervalMs)).toBe(true);
        expect(plan.fits).toBe(plan.wantedCallsPerMinute <= asked.callsPerMinute);
        if (plan.fits) expect(plan).toMatchObject({ turns: 0, longestAgeMs: asked.stalenessMs });
      }),
    );
  });

  it('does not make samples older when the budget grows', () => {
    fc.assert(
      fc.property(requests, fc.double({ min: 1, max: 10, noNaN: true }), (asked, factor) => {
        const more = planCollection({ ...asked, callsPerMinute: asked.callsPerMinute * factor });
        expect(more.longestAgeMs).toBeLessThanOrEqual(planCollection(asked).longestAgeMs * (1 + 1e-9));
      }),
    );
  });
});

describe('the staleness of polled samples', () => {
  it.each([
    [60_000, 30_000, 60_000],
    [60_000, 31_000, 77_500],
    [60_000, 960_000, 2_400_000],
  ])('of %i ms with an interval of %i ms is %i ms', (staleness, interval, expected) => {
    expect(polledStalenessMs(staleness, interval)).toBe(expected);
  });
});

describe('a process with too few file descriptors', () => {
  it('gives as many servers a socket as it can open, and polls the others', () => {
    const plan = planCollection(request({ either: 150, socketLimit: 12 }));
    expect(plan).toMatchObject({
      sockets: 12,
      streamed: 12,
      polls: 138,
      unseated: 138,
      turns: 0,
      fits: true,
    });
    expect(plan.wantedCallsPerMinute).toBe(150 / 8);
    // The budget covers polls in addition to renewals, but less often than configured.
    expect(plan.pollIntervalMs).toBeCloseTo((138 / (48 - 12 / 8)) * 60_000, 3);
    expect(plan.callsPerMinute).toBeCloseTo(48, 6);
  });

  it('polls all servers if it can open no sockets', () => {
    const plan = planCollection(request({ either: 20, socketLimit: 0 }));
    expect(plan).toMatchObject({ sockets: 0, streamed: 0, polls: 20, unseated: 20, turns: 0 });
  });

  it('gives the first sockets to servers in mode socket', () => {
    const plan = planCollection(request({ socketOnly: 10, either: 20, pollOnly: 2, socketLimit: 12 }));
    expect(plan).toMatchObject({ sockets: 12, streamed: 2, polls: 20, unseated: 18 });
  });

  it('takes turns if the budget is the tighter limit', () => {
    expect(planCollection(request({ either: 1_000, socketLimit: 500 }))).toEqual(
      planCollection(request({ either: 1_000 })),
    );
    const tight = planCollection(request({ either: 1_000, socketLimit: 400 }));
    expect(tight).toMatchObject({ turns: 1_000, turnSockets: 400, polls: 0 });
    const few = planCollection(request({ either: 1_000, socketLimit: 100 }));
    expect(few).toMatchObject({ turns: 0, sockets: 100, polls: 900, fits: false });
  });

  it('never plans more sockets than it can open, nor more calls than the budget', () => {
    const count = fc.nat({ max: 3_000 });
    fc.assert(
      fc.property(
        count,
        count,
        count,
        fc.integer({ min: 1, max: 500 }),
        (either, pollOnly, socketLimit, calls) => {
          const plan = planCollection(request({ either, pollOnly, socketLimit, callsPerMinute: calls }));
          expect(plan.sockets + plan.turnSockets).toBeLessThanOrEqual(socketLimit);
          expect(plan.callsPerMinute).toBeLessThanOrEqual(Math.max(calls, 1) + 1e-6);
          expect(plan.turns > 0 ? plan.turns : plan.sockets).toBe(either - plan.unseated);
        },
      ),
    );
  });
});
