/** What to do about a problem: first what usually helps, in one short sentence, then the rest. */
export interface Advice {
  readonly headline: string;
  /** Empty if the headline is all there is. */
  readonly rest: string;
}

/** The first sentence, or its part before a semicolon. */
const HEADLINE = /^(.+?)(?:[.!?](?=\s+[(A-Z]|$)|;(?=\s))\s*(.*)$/s;

/** A remedy, split so that the first thing to do comes first. */
export function adviceIn(remedy: string): Advice {
  const [, headline = remedy, rest = ''] = HEADLINE.exec(remedy) ?? [];
  return { headline: `${headline}.`, rest: rest.charAt(0).toUpperCase() + rest.slice(1) };
}
