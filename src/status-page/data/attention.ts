import { TROUBLES } from '../../domain/troubles.ts';

/** A problem of servers that the page counts: its name, and whether the server is down or may soon be. */
interface AttentionWords {
  readonly title: string;
  readonly severity: 'error' | 'warning';
}

/** The problems of servers that the page counts, most urgent first; it sorts by this order. */
export const ATTENTION = {
  crashed: { title: 'crashed', severity: 'error' },
  gave_up: TROUBLES.gave_up,
  off: TROUBLES.down,
  no_data: TROUBLES.no_data,
  crash_loop: TROUBLES.crash_loop,
  not_answering: TROUBLES.not_answering,
  cpu_saturated: TROUBLES.cpu_saturated,
  disk_nearly_full: TROUBLES.disk_full,
} as const satisfies Readonly<Record<string, AttentionWords>>;

export type Attention = keyof typeof ATTENTION;

export const ATTENTION_CODES = Object.keys(ATTENTION) as readonly Attention[];

/** The counts at the top of the page: servers without data aren't known to be up or down. */
export type AttentionGroup = 'down' | 'no_data' | 'warning';

export function groupOf(attention: Attention): AttentionGroup {
  if (attention === 'no_data') return attention;
  return ATTENTION[attention].severity === 'error' ? 'down' : 'warning';
}
