// The problems for which the page counts servers.
import { type CodeSeenBy, codesSeenBy, SERVER_PROBLEMS } from '../../diagnosis/server-problems.ts';

/** The code of a problem that the page counts: the value of `attention`. */
export type Attention = CodeSeenBy<'exporter'>;

/** Most urgent first: the page sorts by this order. */
export const ATTENTION_CODES = codesSeenBy('exporter');

export type AttentionGroup = 'down' | 'no_data' | 'warning' | 'unclear';

/**
 * The count at the top of the page that a problem belongs to: servers without data aren't known to
 * be up or down.
 */
export function attentionGroup(attention: Attention): AttentionGroup {
  if (attention === 'no_data' || attention === 'unclear') return attention;
  return attentionSeverity(attention) === 'error' ? 'down' : 'warning';
}

/** How serious a problem is. */
export function attentionSeverity(attention: Attention): 'error' | 'warning' | 'fact' {
  return SERVER_PROBLEMS[attention].severity;
}

/** A short text for the problem. */
export function attentionTitle(attention: Attention): string {
  return SERVER_PROBLEMS[attention].title;
}
