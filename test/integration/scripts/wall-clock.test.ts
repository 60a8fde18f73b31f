import { expect, it } from 'vitest';
import { rejected } from '../../support/linted.ts';

const RULES = [
  'no-restricted-globals',
  'no-restricted-imports',
  'no-restricted-properties',
  'no-restricted-vi-methods',
];

/** Every form in which a test could depend on the machine's time. */
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

const CLOCKS = [
  'test/support/eventually.ts',
  'test/support/test-time.ts',
  'test/support/accelerated-node.ts',
  'test/unit/domain/time.test.ts',
];

it('the linter rejects the time of the machine in tests, except in files of clocks', async () => {
  const files = new Map(
    [...CLOCKS, 'src/domain/time.ts', 'test/any/one.test.ts'].map((file) => [file, FORMS]),
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
