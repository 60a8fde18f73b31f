// Fuzz tests with random inputs and with saved ones.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, it } from 'vitest';
import { LONGEST_TEST_MS } from './eventually.ts';

const FIXTURES = new URL('../fixtures/fuzz/', import.meta.url);

/** The number of runs, and fast-check's seed and path, which reproduce a failure. */
const { FUZZ_RUNS, FUZZ_SEED, FUZZ_PATH } = process.env;

/** The time limit per run, in milliseconds. Generous, because machines may be slow. */
const MS_PER_RUN = 400;

/** The number of random inputs, which is `FUZZ_RUNS` if set, and the time limit for all of them. */
export function fuzzRuns(runs: number): { readonly numRuns: number; readonly timeout: number } {
  const numRuns = FUZZ_RUNS === undefined ? runs : Number(FUZZ_RUNS);
  return { numRuns, timeout: Math.max(LONGEST_TEST_MS, numRuns * MS_PER_RUN) };
}

/** A property that must hold for every input. */
export interface FuzzedProperty<Input> {
  /** The folder with saved inputs under `test/fixtures/fuzz`. */
  readonly folder: string;
  /** The property in words, which is the name of the tests. */
  readonly holds: string;
  /** The number of random inputs, unless `FUZZ_RUNS` is set. */
  readonly runs: number;
  /** Generates inputs that JSON can represent. */
  readonly input: fc.Arbitrary<Input>;
  /** Throws if the property doesn't hold. */
  readonly expectHeld: (input: Input) => void | Promise<void>;
}

/**
 * Tests a property with random inputs and with the saved ones. A failing input is saved, so that
 * later runs include it. The error names the file and the seed.
 */
export function describeFuzz<Input>({ folder, holds, runs, input, expectHeld }: FuzzedProperty<Input>): void {
  const { numRuns, timeout } = fuzzRuns(runs);

  describe(`${folder}: ${holds}`, () => {
    it(`for ${numRuns} random inputs`, { timeout }, async () => {
      const property = fc.asyncProperty(input, async (value) => expectHeld(value));
      const details = await fc.check(property, {
        numRuns,
        // Reports the findings before the test's own timeout discards them.
        interruptAfterTimeLimit: timeout * 0.8,
        markInterruptAsFailure: true,
        ...(FUZZ_SEED === undefined ? {} : { seed: Number(FUZZ_SEED) }),
        ...(FUZZ_PATH === undefined ? {} : { path: FUZZ_PATH }),
      });
      if (!details.failed) return;
      const kept =
        details.counterexample === null ? 'none' : keep(folder, details.seed, details.counterexample[0]);
      const report = await fc.asyncDefaultReportMessage(details);
      throw new Error(`${report ?? 'the property failed'}\n\nThe input was saved to ${kept}`, {
        cause: details.errorInstance,
      });
    });

    it.each(kept(folder))('for the saved input %s', async (name) => {
      await expectHeld(JSON.parse(readFileSync(new URL(`${folder}/${name}`, FIXTURES), 'utf8')) as Input);
    });
  });
}

function kept(folder: string): readonly string[] {
  return readdirSync(new URL(`${folder}/`, FIXTURES)).filter((name) => name.endsWith('.json'));
}

function keep(folder: string, seed: number, input: unknown): string {
  const file = new URL(`${folder}/failed-${seed}.json`, FIXTURES);
  mkdirSync(new URL(`${folder}/`, FIXTURES), { recursive: true });
  writeFileSync(file, `${JSON.stringify(input, undefined, 2)}\n`);
  return file.pathname;
}
