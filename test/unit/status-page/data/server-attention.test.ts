import { describe, expect, it } from 'vitest';
import type { ServerReading } from '../../../../src/domain/reading.ts';
import { Ledger } from '../../../../src/status-page/data/ledger.ts';
import { serverAttention, serverTrouble } from '../../../../src/status-page/data/server-attention.ts';
import { FULL_SAMPLE, type ServerReadingChanges, streamingReading } from '../../../support/readings.ts';

const SECOND = 1_000;

/** A server observed second by second, from the given second on. */
class Story {
  readonly #ledger = new Ledger();
  #second: number;
  #reading: ServerReading = streamingReading();

  constructor(second = 1_000) {
    this.#second = second;
  }

  /** Lets these seconds pass with the server as described. */
  see(changes: ServerReadingChanges, seconds = 1): this {
    for (let count = 0; count < seconds; count += 1) {
      this.#second += 1;
      const now = this.#second * SECOND;
      // The same object is the same stop.
      this.#reading = { ...streamingReading({ sampledAt: now, ...changes }) };
      this.#ledger.observe([this.#reading], now, now);
    }
    return this;
  }

  get now(): number {
    return this.#second * SECOND;
  }

  get attention() {
    return serverAttention(this.#reading, this.now, this.#entry);
  }

  get trouble() {
    return serverTrouble(this.#reading, this.now, this.#entry)?.title;
  }

  get changes() {
    return this.#ledger
      .changes(this.#entry)
      .map(({ state, reason, exit_code: code }) => [state, reason, code]);
  }

  get #entry() {
    const entry = this.#ledger.find('main/1a7ce997');
    if (entry === undefined) throw new Error('the server is not followed');
    return entry;
  }
}

const crash = (at: number, exitCode = 1) => ({ at, reason: 'crashed', exitCode }) as const;

describe('a server', () => {
  it('is off until the reason of its stop is known, then crashed, and the change shows the reason', () => {
    const story = new Story().see({}).see({ state: 'offline' }, 5);
    expect([story.attention, story.trouble]).toEqual(['off', 'off, but expected to run']);
    story.see({ state: 'offline', lastStop: crash(story.now - 5 * SECOND) });
    expect([story.attention, story.trouble]).toEqual(['crashed', 'crashed, exit code 1']);
    expect(story.changes).toEqual([['offline', 'crashed', 1]]);
  });

  it('needs no attention while its node may still explain the stop', () => {
    const story = new Story().see({}).see({ state: 'offline', awaitsWords: true });
    expect([story.attention, story.trouble]).toEqual([undefined, undefined]);
    story.see({ state: 'offline', awaitsWords: true, isRestartAborted: true });
    expect(story.attention).toBe('gave_up');
    story.see({ state: 'offline', lastStop: crash(story.now - 2 * SECOND) });
    expect([story.attention, story.trouble]).toEqual(['crashed', 'crashed, exit code 1']);
  });

  it('is not crashed because of a crash before its last run', () => {
    const story = new Story().see({});
    const lastStop = crash(story.now);
    story.see({ state: 'offline', lastStop }, 2).see({ lastStop }, 60).see({ state: 'offline', lastStop });
    expect(story.attention).toBe('off');
  });

  it('is still crashed when its data returns after a gap', () => {
    const story = new Story().see({});
    const lastStop = crash(story.now);
    story.see({ state: 'offline', lastStop }, 2).see({ sampledAt: 0, state: 'offline', lastStop }, 30);
    expect(story.attention).toBe('no_data');
    story.see({ state: 'offline', lastStop });
    expect(story.attention).toBe('crashed');
  });

  it('is in a crash loop from the third crash within 15 minutes, while it runs', () => {
    const story = new Story().see({});
    for (const expected of [undefined, undefined, 'crash_loop']) {
      const lastStop = crash(story.now);
      story.see({ state: 'offline', lastStop }, 5);
      expect(story.attention).toBe('crashed');
      story.see({ lastStop }, 100);
      expect(story.attention).toBe(expected);
    }
    expect(story.trouble).toBe('crash loop: 3 in 15 min');
  });

  it('is at its CPU limit after a minute, not during a peak', () => {
    const target = { limits: { cpuCores: 2 } };
    const at = (cpuCores: number) => ({ target, sample: { ...FULL_SAMPLE, cpuCores } });
    const story = new Story().see(at(0.5), 60).see(at(2), 30);
    expect(story.attention).toBeUndefined();
    story.see(at(1.99), 30);
    expect(story.attention).toBe('cpu_saturated');
    story.see(at(0.5), 10);
    expect(story.attention).toBeUndefined();
  });

  it('does not answer if its queries fail after the ten minutes that a game may take to load', () => {
    const problem = { cause: 'query_no_answer', detail: 'nothing came back' } as const;
    const query = { problem, durationSeconds: 5, staleAt: Number.POSITIVE_INFINITY };
    const startedAt = 1_000 * SECOND;
    const story = new Story().see({ query, startedAt }, 599);
    expect([story.attention, story.trouble]).toEqual([undefined, 'query not answered']);
    story.see({ query, startedAt });
    expect([story.attention, story.trouble]).toEqual(['not_answering', 'running, but not answering queries']);
    story.see({ query: { players: 3, durationSeconds: 0.1, staleAt: Number.POSITIVE_INFINITY }, startedAt });
    expect(story.attention).toBeUndefined();
  });

  it('has a nearly full disk', () => {
    const diskBytes = 10 * 2 ** 30;
    const story = new Story().see({
      target: { limits: { diskBytes } },
      sample: { ...FULL_SAMPLE, diskBytes: 0.97 * diskBytes },
    });
    expect([story.attention, story.trouble]).toEqual(['disk_nearly_full', 'disk 97 % full']);
  });

  it.each(['suspended', 'installing', 'transferring', 'restoring', 'maintenance'] as const)(
    'needs no attention while it is %s',
    (blocked) => {
      const problem = { cause: blocked, detail: 'the panel says so' } as const;
      const story = new Story().see({});
      story.see({ sampledAt: 0, status: { condition: 'blocked', blocked, problem } }, 2);
      expect(story.attention).toBeUndefined();
      story.see({ sampledAt: 0, status: { condition: 'blocked', blocked: 'forbidden' } });
      expect(story.attention).toBe('no_data');
    },
  );
});
