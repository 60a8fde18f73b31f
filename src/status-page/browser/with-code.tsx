// Shows the names of settings in a text as code.
import type { ComponentChild } from 'preact';

/** A text in which the names of settings are between backticks. */
export function withCode(text: string): ComponentChild {
  return text.split('`').map((part, at) => (at % 2 === 0 ? part : <code key={at}>{part}</code>));
}
