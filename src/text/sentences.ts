// Parts of sentences that several texts share.

/** How many names a text lists at most. */
export const NAMES_SHOWN = 3;

/** The first names, and how many more there are. */
export function listed(names: readonly string[], most: number): string {
  const more = names.length - most;
  return names.slice(0, most).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** With one digit after the decimal point, as texts show rates. */
export function toOneDecimal(amount: number): number {
  return Number(amount.toFixed(1));
}

/** `1 server`, `2 servers`. */
export function counted(amount: number, thing: string): string {
  return `${amount} ${thing}${amount === 1 ? '' : 's'}`;
}
