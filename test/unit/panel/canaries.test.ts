import { beforeEach, describe, expect, it } from 'vitest';
import { sleep } from '../../../src/domain/clock.ts';
import type { Problem } from '../../../src/domain/problem.ts';
import { Canaries, type Canary } from '../../../src/panel/canaries.ts';
import { CLOSED, DOUBTFUL } from '../../../src/panel/circuit.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const DOWN: Problem = { cause: 'panel_down', detail: '502' };
const REFUSED: Problem = { cause: 'key_refused', detail: '401' };
/** A signal of its own for each call, as callers have: Node.js warns about many listeners on one. */
const never = () => new AbortController().signal;

let clock: ManualClock;
let startedAt: number;
/** When each canary went out, in seconds after the start. */
let sent: string[];
let provenAt: number;
let failed: Problem[];
let trialAt: number | undefined;
let all: readonly Canary[];
let canaries: Canaries;

/** A canary that ends like this after so many milliseconds. */
const canary =
  (name: string, outcome: Problem | 'works' | 'nothing', tookMs = 100): Canary =>
  async () => {
    sent.push(`${name} ${(clock.now() - startedAt) / 1_000}`);
    await sleep(clock, tookMs, never());
    if (outcome === 'works') provenAt = clock.now();
    return outcome;
  };

beforeEach(() => {
  clock = new ManualClock();
  startedAt = clock.now();
  sent = [];
  provenAt = Number.NEGATIVE_INFINITY;
  failed = [];
  trialAt = undefined;
  all = [];
  canaries = new Canaries({
    clock,
    gate: {
      circuit: () => (trialAt === undefined ? CLOSED : { ...DOUBTFUL, trialAt }),
      note: (_key, event) => {
        if (event.type !== 'failed') return;
        failed.push(event.problem);
        if (trialAt !== undefined) trialAt = clock.now() + 30_000;
      },
    },
    canaries: () => all,
    provenAt: () => provenAt,
  });
});

describe('a round of canaries', () => {
  it('sends one after another, until one shows that the panel works', async () => {
    all = [canary('listing', DOWN), canary('websocket', 'works'), canary('resources', DOWN)];
    void canaries.ask();
    await clock.advance(10_000);
    expect(sent).toEqual(['listing 0', 'websocket 0.1']);
    expect(failed).toEqual([]);
  });

  it('waits 3 s for each, and fails when all have failed', async () => {
    all = [canary('listing', DOWN, 20_000), canary('websocket', DOWN)];
    void canaries.ask();
    await clock.advance(10_000);
    expect(sent).toEqual(['listing 0', 'websocket 3']);
    expect(failed).toEqual([]);
    await clock.advance(10_000);
    expect(failed).toEqual([DOWN]);
  });

  it('reports a refused key rather than anything else', async () => {
    all = [canary('listing', DOWN), canary('websocket', REFUSED)];
    void canaries.ask();
    await clock.advance(1_000);
    expect(failed).toEqual([REFUSED]);
  });

  it("doesn't fail if another call succeeds meanwhile", async () => {
    all = [canary('listing', DOWN)];
    void canaries.ask();
    provenAt = clock.now();
    await clock.advance(1_000);
    expect(failed).toEqual([]);
  });

  it('is shared by callers that arrive while it is under way', async () => {
    all = [canary('listing', DOWN)];
    const rounds = [canaries.ask(), canaries.ask()];
    await clock.advance(100);
    await Promise.all(rounds);
    expect(sent).toHaveLength(1);
  });
});

describe('a doubt about the panel', () => {
  it('makes a round at once, and another 15 s after its start', async () => {
    all = [canary('listing', DOWN)];
    canaries.doubt(clock.now());
    canaries.doubt(clock.now());
    await clock.advance(29_000);
    expect(sent).toEqual(['listing 0', 'listing 15']);
  });

  it('is dispelled by a call that succeeds before the next round', async () => {
    all = [canary('listing', DOWN)];
    canaries.doubt(clock.now());
    await clock.advance(10_000);
    provenAt = clock.now();
    await clock.advance(60_000);
    expect(sent).toHaveLength(1);
  });

  it('makes no round if a call has succeeded since the failed one started', async () => {
    all = [canary('listing', DOWN)];
    provenAt = clock.now();
    canaries.doubt(clock.now() - 1_000);
    await clock.advance(60_000);
    expect(sent).toEqual([]);
  });
});

describe('while the panel counts as down', () => {
  it('each trial is a single canary, another one each time', async () => {
    all = [canary('listing', DOWN), canary('websocket', DOWN)];
    void canaries.ask();
    await clock.advance(1_000);
    for (let trial = 0; trial < 3; trial += 1) {
      trialAt = clock.now();
      void canaries.ask();
      await clock.advance(1_000);
    }
    expect(sent.slice(2).map((line) => line.split(' ')[0])).toEqual(['websocket', 'listing', 'websocket']);
  });

  it('trials follow when they are due, even if no call triggers them', async () => {
    all = [canary('listing', DOWN)];
    trialAt = clock.now();
    void canaries.ask();
    await clock.advance(31_000);
    expect(sent).toEqual(['listing 0', 'listing 30.1']);
  });

  it('nothing follows after the end', async () => {
    all = [canary('listing', DOWN)];
    trialAt = clock.now() + 30_000;
    void canaries.ask();
    await clock.advance(1_000);
    canaries.stop();
    await clock.advance(120_000);
    expect(sent).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });
});
