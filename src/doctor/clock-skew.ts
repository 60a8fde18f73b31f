import { decodeJwt } from 'jose/jwt/decode';
import { type Finding, type PanelStep, passed, skipped, warned } from './report.ts';

/** More than this between two clocks is no delay of a call, and shows in the metrics' timestamps. */
const TOLERANCE_MS = 30_000;

/** When a call was made and answered, in Unix milliseconds. */
export interface CallSpan {
  readonly from: number;
  readonly to: number;
}

/**
 * How far the panel's clock is ahead of ours (behind where negative), in milliseconds, told by when it says that it issued a
 * token; undefined where the token doesn't tell.
 */
export function clockSkewMs(token: string, { from, to }: CallSpan): number | undefined {
  const issuedAt = issuedAtMs(token);
  if (issuedAt === undefined) return undefined;
  if (issuedAt > to) return issuedAt - to;
  return Math.min(0, issuedAt - from);
}

function issuedAtMs(token: string): number | undefined {
  try {
    const { iat } = decodeJwt(token);
    return iat === undefined ? undefined : iat * 1_000;
  } catch {
    return undefined;
  }
}

/** Do the clocks of this machine and the panel agree? */
export function clockFinding(skewMs: number | undefined): Finding<PanelStep> {
  if (skewMs === undefined) return skipped('clock', 'not told: there was no token with a time');
  if (Math.abs(skewMs) <= TOLERANCE_MS) return passed('clock', "agrees with the panel's");
  const seconds = Math.round(Math.abs(skewMs) / 1_000);
  const detail = `the panel's clock is ${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} this machine's`;
  return warned('clock', 'clock_off', detail);
}
