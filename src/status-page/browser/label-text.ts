// A server's labels from the configuration, as text.
import type { LiveServer } from '../data/live-fields.ts';

/** The labels as one text. */
export function labelText({ labels }: LiveServer): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
}
