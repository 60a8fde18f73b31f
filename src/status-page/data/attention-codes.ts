// The problems that the page counts.
import { type CodeSeenBy, codesSeenBy, SERVER_PROBLEMS } from '../../diagnosis/server-problems.ts';

/** The code of a problem that the page counts, which is the value of `attention`. */
export type Attention = CodeSeenBy<'exporter'>;

/** Most urgent first, in the page's order. */
export const ATTENTION_CODES = codesSeenBy('exporter');

export type AttentionGroup = 'down' | 'no_data' | 'warning' | 'unclear';

/**
 * The count at the top of the page for a problem. Servers without data have their own, because it
 * isn't known whether they are up.
 */
export function attentionGroup(attention: Attention): AttentionGroup {
  if (attention === 'no_data' || attention === 'unclear') return attention;
  return attentionSeverity(attention) === 'error' ? 'down' : 'warning';
}

/** The severity of a problem. */
export function attentionSeverity(attention: Attention): 'error' | 'warning' | 'fact' {
  return SERVER_PROBLEMS[attention].severity;
}

/** A short text for the problem. */
export function attentionTitle(attention: Attention): string {
  return SERVER_PROBLEMS[attention].title;
}
