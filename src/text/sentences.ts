// Parts of sentences that several texts share.

/** The maximum number of names in a text. */
export const NAMES_SHOWN = 3;

/** The first names, and the number of further ones. */
export function listed(names: readonly string[], most: number): string {
  const more = names.length - most;
  return names.slice(0, most).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** Rounded to one decimal, as for rates in texts. */
export function toOneDecimal(amount: number): number {
  return Number(amount.toFixed(1));
}

/** `1 server`, `2 servers`. */
export function quantity(amount: number, thing: string): string {
  return `${amount} ${thing}${amount === 1 ? '' : 's'}`;
}

/**
 * An observation and its advice as sentences. An observation may end with a quoted full stop; only
 * one remains.
 */
export function withAdvice(observation: string, advice: string): string {
  return advice === '' ? observation : `${observation.replace(/\.("?)$/, '$1')}. ${advice}`;
}
