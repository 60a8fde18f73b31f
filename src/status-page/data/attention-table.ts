// The problems for which servers are counted.
import { TROUBLES } from '../../domain/problems.ts';
import { unclearTitle } from './titles.ts';

/** The problems of servers that the page counts, most urgent first; it sorts by this order. */
export const ATTENTION = {
  crashed: { title: 'crashed', severity: 'error' },
  gave_up: TROUBLES.gave_up,
  off: TROUBLES.down,
  no_data: TROUBLES.no_data,
  crash_loop: TROUBLES.crash_loop,
  stuck: TROUBLES.stuck,
  not_answering: TROUBLES.not_answering,
  cpu_saturated: TROUBLES.cpu_saturated,
  disk_nearly_full: TROUBLES.disk_full,
  unclear: { title: unclearTitle(1), severity: 'fact' },
} as const;

export type Attention = keyof typeof ATTENTION;

export const ATTENTION_CODES = Object.keys(ATTENTION) as readonly Attention[];

export type AttentionGroup = 'down' | 'no_data' | 'warning' | 'unclear';

/**
 * The count at the top of the page that a problem belongs to: servers without data aren't known to
 * be up or down.
 */
export function groupOf(attention: Attention): AttentionGroup {
  if (attention === 'no_data' || attention === 'unclear') return attention;
  return ATTENTION[attention].severity === 'error' ? 'down' : 'warning';
}
