/** A state as a person reads it. */
export function stateTitle(state: string): string {
  return state === 'unknown' ? 'no data' : state;
}

/** A condition as a person reads it: what is done to the server, not by it. */
export function conditionTitle(condition: string): string {
  return condition === 'polling' ? 'polled' : condition;
}
