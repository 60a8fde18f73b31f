// Joins an observation and its advice.

/**
 * An observation and its advice as sentences. An observation may end with a quoted full stop; only
 * one remains.
 */
export function withAdvice(observation: string, advice: string): string {
  return advice === '' ? observation : `${observation.replace(/\.("?)$/, '$1')}. ${advice}`;
}
