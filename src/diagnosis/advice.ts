// What happened, with what to do about it.

/**
 * What happened, and what to do about it, as sentences; a quoted response loses its own full stop,
 * so that only one remains.
 */
export function withAdvice(observation: string, advice: string): string {
  return advice === '' ? observation : `${observation.replace(/\.("?)$/, '$1')}. ${advice}`;
}
