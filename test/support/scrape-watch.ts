// Continuous scrapes of an exporter.
import { expect } from 'vitest';
import type { ExporterUnderTest } from './exporter.ts';
import { type ParsedFamily, parseExposition } from './exposition-parser.ts';
import type { TestClock } from './test-time.ts';

/** The interval of scrapes, in milliseconds of the tests' clock. */
const EVERY_MS = 1_000;

type Labels = Readonly<Record<string, string>>;

/** A scrape, parsed strictly. */
export class Scraped {
  readonly #families: readonly ParsedFamily[];

  constructor(families: readonly ParsedFamily[]) {
    this.#families = families;
  }

  /** The series with this name and these labels, among others. */
  series(name: string, labels: Labels = {}): readonly { readonly labels: Labels; readonly value: number }[] {
    const series = this.#families.find((family) => family.name === name)?.series ?? [];
    const wanted = Object.entries(labels);
    return series.filter((one) => wanted.every(([label, value]) => one.labels[label] === value));
  }

  /** The value of the only such series; undefined if there is none. */
  value(name: string, labels: Labels = {}): number | undefined {
    const found = this.series(name, labels);
    if (found.length > 1) throw new Error(`expected one series ${name}, got ${found.length}`);
    return found[0]?.value;
  }
}

/** Scrapes an exporter continuously, and tracks the age of some servers' samples. */
export class ScrapeWatch {
  readonly #exporter: ExporterUnderTest;
  readonly #clock: TestClock;
  readonly #oldest = new Map<string, number>();
  readonly #done: Promise<void>;
  #waiting: { resolve(scraped: Scraped): void; reject(reason: unknown): void } | undefined;
  #failure: unknown;
  #ended = false;

  constructor(exporter: ExporterUnderTest, clock: TestClock) {
    this.#exporter = exporter;
    this.#clock = clock;
    this.#done = this.#run();
  }

  /** The highest age of each watched server's samples, in milliseconds of the tests' clock. */
  get oldest(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#oldest);
  }

  /** From now on, also tracks the samples of these servers. */
  observe(servers: readonly string[]): void {
    for (const server of servers) this.#oldest.set(server, 0);
  }

  /**
   * Waits until the check passes for a scrape. Fails with the check's last error after `withinMs`
   * on the tests' clock. Returns the elapsed time on that clock.
   */
  async until(check: (scraped: Scraped) => void, withinMs: number): Promise<number> {
    const startedAt = this.#clock.now();
    for (;;) {
      const scraped = await this.#next();
      const tookMs = this.#clock.now() - startedAt;
      try {
        check(scraped);
        return tookMs;
      } catch (error) {
        if (tookMs > withinMs) throw error;
      }
    }
  }

  async end(): Promise<void> {
    this.#ended = true;
    await this.#done;
    if (this.#failure !== undefined) throw this.#failure;
  }

  #next(): Promise<Scraped> {
    return new Promise((resolve, reject) => {
      if (this.#failure === undefined) this.#waiting = { resolve, reject };
      else reject(this.#failure);
    });
  }

  async #run(): Promise<void> {
    try {
      while (!this.#ended) {
        const { stepMs } = this.#clock;
        const askedAt = this.#clock.toUnixMs(this.#clock.now());
        const scraped = new Scraped(parseExposition(await this.#exporter.scrape()));
        if (stepMs === this.#clock.stepMs) this.#noteAges(scraped, askedAt);
        this.#waiting?.resolve(scraped);
        await new Promise<void>((resolve) => void this.#clock.schedule(EVERY_MS, resolve));
      }
    } catch (error) {
      this.#failure = error;
      this.#waiting?.reject(error);
    }
  }

  #noteAges(scraped: Scraped, askedAt: number): void {
    for (const [server, oldest] of this.#oldest) {
      const at = scraped.value('gameserver_last_sample_timestamp_seconds', { server });
      expect(at, `${server} has a sample`).toBeDefined();
      this.#oldest.set(server, Math.max(oldest, askedAt - (at ?? 0) * 1_000));
    }
  }
}
