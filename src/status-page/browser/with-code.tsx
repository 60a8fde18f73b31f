// Shows setting names in a text as code.
import type { ComponentChild } from 'preact';

/** A text with setting names between backticks. */
export function withCode(text: string): ComponentChild {
  return text.split('`').map((part, at) => (at % 2 === 0 ? part : <code key={at}>{part}</code>));
}
