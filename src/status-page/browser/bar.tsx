// A bar for a percentage.
import type { JSX } from 'preact';

/** A bar that is filled to this percentage. */
export function bar(percent: number, level: 'error' | 'warning' | undefined): JSX.Element {
  return (
    <span class="bar" aria-hidden="true">
      <span class="fill" data-level={level} style={{ width: `${Math.min(100, percent).toFixed(0)}%` }} />
    </span>
  );
}
