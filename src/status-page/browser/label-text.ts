// The user's labels of a server as text.
import type { LiveServer } from '../data/live-fields.ts';

/** The user's labels as one text. */
export function labelText({ labels }: LiveServer): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
}
