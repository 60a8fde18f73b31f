import { expect, it } from 'vitest';
import { rejected } from '../../support/linted.ts';

const RULES = [
  'no-restricted-globals',
  'no-restricted-imports',
  'no-restricted-properties',
  'no-restricted-vi-methods',
];

/** All forms of code with which a test could depend on the machine's time. */
const FORMS = [
  "export * as a from 'node:timers/promises';",
  "import { setTimeout as delay } from 'timers/promises';",
  "import { setInterval as every } from 'node:timers';",
  "import * as timers from 'timers';",
  'setTimeout(() => undefined, 1);',
  'setInterval(() => undefined, 1);',
  'await new Promise((resolve) => setTimeout(resolve, 1));',
  'globalThis.setTimeout(() => undefined, 1);',
  'globalThis.setInterval(() => undefined, 1);',
  'const now = performance.now();',
  'const { now: monotonic } = performance;',
  'const wall = Date.now();',
  'const { now: unix } = Date;',
  'const precise = process.hrtime();',
  "import { expect, vi } from 'vitest';",
  'await vi.waitFor(() => expect(now).toBe(1));',
  'await vi.waitUntil(() => now === 1);',
];

/** The forms in which the program uses the machine's clocks. */
const MACHINE_CLOCKS = [
  "import { type Clock, SystemClock } from '../../src/domain/clock.ts';",
  "import { FastClock } from '../../src/simulator/fast-clock.ts';",
];

const CLOCKS = [
  'test/support/eventually.ts',
  'test/support/test-time.ts',
  'test/support/accelerated-node.ts',
  'test/unit/domain/clock.test.ts',
];

/** Helpers for Prometheus or the built program, which can't use another time. */
const OF_OTHER_PROGRAMS = [
  'test/support/alert-chain.ts',
  'test/support/alertmanager.ts',
  'test/support/exposition-target.ts',
  'test/support/log-stage.ts',
  'test/faults/descriptors.test.ts',
];

it("the linter rejects the machine's clocks in tests, except where the built program or Prometheus needs them", async () => {
  const allowed = [...CLOCKS, ...OF_OTHER_PROGRAMS];
  const forms = [...MACHINE_CLOCKS, "import { sleep } from '../../src/domain/clock.ts';"];
  const files = new Map([...allowed, 'test/any/one.test.ts'].map((file) => [file, forms]));
  const found = await rejected(files, RULES);
  expect(found).toEqual(MACHINE_CLOCKS.map((_, index) => `test/any/one.test.ts:${index + 1}`));
  const timers = new Map(OF_OTHER_PROGRAMS.map((file) => [file, FORMS.slice(0, 1)]));
  expect(await rejected(timers, RULES)).toEqual(OF_OTHER_PROGRAMS.map((file) => `${file}:1`).toSorted());
});

it('the linter rejects the time of the machine in tests, except in files of clocks', async () => {
  const files = new Map(
    [...CLOCKS, 'src/domain/clock.ts', 'test/any/one.test.ts'].map((file) => [file, FORMS]),
  );
  const forbidden = FORMS.flatMap((form, index) =>
    form.includes("'vitest'") ? [] : [`test/any/one.test.ts:${index + 1}`],
  );
  const found = await rejected(files, RULES);
  expect(found.filter((place) => place.startsWith('test/any'))).toEqual(forbidden.toSorted());
  const waits = FORMS.flatMap((form, index) => (form.includes('vi.wait') ? [index + 1] : []));
  const elsewhere = CLOCKS.flatMap((file) => waits.map((line) => `${file}:${line}`));
  expect(found.filter((place) => !place.startsWith('test/any'))).toEqual(elsewhere.toSorted());
});
