/**
 * Reports on standard error that tests are skipped because something that they need is missing, and returns false; with `CI=true` this
 * throws instead, because there a skip is a failure.
 */
export function skipWithout(missing: string): false {
  if (process.env['CI'] === 'true') throw new Error(`${missing}; with CI=true, tests must not be skipped`);
  process.stderr.write(`\nSKIPPED: ${missing}; the tests that need it are skipped\n\n`);
  return false;
}
