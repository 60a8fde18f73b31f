// A configuration as a text with its secrets, which the thread that read the file passes on.

import type { ServerTarget } from '../domain/server.ts';
import { Secret } from '../text/secrets.ts';
import type { LoadResult } from './config.ts';

/** Some servers of the panel with this index. */
export type ServersPart = readonly [panel: number, servers: readonly ServerTarget[]];

/** So many servers are passed on at once: reading them takes a millisecond or two. */
const PART_SERVERS = 200;

/**
 * A configuration as texts that another thread reads one after another: all but its servers, then
 * these, with the index of their panel.
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

/** Stands for a secret in a text; no setting and no label has this name. */
const SECRET = '$secret';

/**
 * Plain data with its secrets as a text, which can be compared, and passed on by a thread: a secret
 * hides its text from both.
 */
export function disclose(data: unknown): string {
  return JSON.stringify(data, (_, value: unknown) =>
    value instanceof Secret ? { [SECRET]: value.reveal() } : value,
  );
}

/** The texts of all secrets in plain data. */
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
