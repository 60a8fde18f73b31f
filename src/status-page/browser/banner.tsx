// The texts of a complaint, as a banner or below a title.
import type { ComponentChild, JSX } from 'preact';
import { span } from '../data/amounts.ts';
import type { Complaint } from '../data/complaint.ts';
import { sentence } from '../data/titles.ts';
import { minuteOfDay, time } from './times.tsx';
import { withCode } from './with-code.tsx';

/** The complaint about a panel or node: the problem, its start, what to do, and what happened. */
export function banner(complaint: Complaint, now: number): JSX.Element {
  const { severity, title, since } = complaint;
  return (
    <div key={title} class="notice" data-severity={severity}>
      <p class="title">
        <bdi>{sentence(title)}</bdi>
        {since !== undefined && time(since, `since ${minuteOfDay(since, now)}, ${span(now - since)}`)}
      </p>
      {remarks(complaint)}
    </div>
  );
}

/**
 * What to do about a complaint whose title is shown above, and what happened; null if neither is
 * known.
 */
export function advice(complaint: Complaint): JSX.Element | null {
  const { severity, action, detail } = complaint;
  if (action === '' && detail === '') return null;
  return (
    <div class="notice" data-severity={severity}>
      {remarks(complaint)}
    </div>
  );
}

function remarks({ action, detail }: Complaint): ComponentChild {
  return (
    <>
      {action !== '' && <p>{withCode(action)}</p>}
      {detail !== '' && (
        <p class="sub observed">
          <bdi>{withCode(detail)}</bdi>
        </p>
      )}
    </>
  );
}
