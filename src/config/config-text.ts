// A configuration as text with its secrets, in which form a thread passes it on.

import type { ServerTarget } from '../domain/server.ts';
import { Secret } from '../text/redaction.ts';
import type { LoadResult } from './config.ts';

/** Some of the servers of one panel, which is given by its index. */
export type ServersPart = readonly [panel: number, servers: readonly ServerTarget[]];

/** How many servers are passed on at once: reading them takes a millisecond or two. */
const PART_SERVERS = 200;

/**
 * A configuration as texts that another thread reads one by one: first everything but the servers,
 * then parts with the servers of each panel.
 */
export function* disclosedParts(loaded: LoadResult): Generator<string, void, void> {
  if (!loaded.ok) {
    yield disclose(loaded);
    return;
  }
  const { panels } = loaded.config;
  const config = { ...loaded.config, panels: panels.map((panel) => ({ ...panel, servers: [] })) };
  yield disclose({ ...loaded, config });
  for (const [index, { servers }] of panels.entries()) {
    for (let first = 0; first < servers.length; first += PART_SERVERS)
      yield disclose([index, servers.slice(first, first + PART_SERVERS)]);
  }
}

/** Marks a secret in the text; no setting and no label has this name. */
const SECRET = '$secret';

/**
 * Plain data as text with its secrets, for comparison and for messages between threads. Otherwise,
 * a secret hides its text from both.
 */
export function disclose(data: unknown): string {
  return JSON.stringify(data, (_, value: unknown) =>
    value instanceof Secret ? { [SECRET]: value.reveal() } : value,
  );
}

/** All secrets in plain data. */
export function secretsIn(data: unknown): readonly string[] {
  const found: string[] = [];
  JSON.stringify(data, (_, value: unknown) => {
    if (!(value instanceof Secret)) return value;
    found.push(value.reveal());
    return undefined;
  });
  return found;
}

export function readDisclosed(text: string): unknown {
  return JSON.parse(text, (_, value: unknown) => secretIn(value) ?? value);
}

function secretIn(value: unknown): Secret | undefined {
  const isSecret = typeof value === 'object' && value !== null && SECRET in value;
  return isSecret ? new Secret(String(value[SECRET])) : undefined;
}
