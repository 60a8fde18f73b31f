import picomatch from 'picomatch';
import { type DiscoverRules, MATCH_KEYS, type MatchKey, type ServerGlobs } from '../domain/discovery.ts';
import type { ListedServer } from '../panel/decode-listing.ts';

/** What the rules say of one listed server. */
export interface Verdict {
  readonly included: boolean;
  readonly expect: 'running' | 'any';
}

type Test = (server: ListedServer) => boolean;

/** The rules as a function: whether a listed server is to be observed, and what is expected of it. */
export function compileRules(rules: DiscoverRules): (server: ListedServer) => Verdict {
  const included = testsOf(rules.include);
  const excluded = testsOf(rules.exclude);
  const expectations = rules.expect.map(({ match, state }) => ({ tests: testsOf(match), state }));
  return (server) => ({
    included: included.every((fits) => fits(server)) && !excluded.some((fits) => fits(server)),
    expect: expectations.find(({ tests }) => tests.every((fits) => fits(server)))?.state ?? 'any',
  });
}

// Names are no paths: a star goes over slashes, and over a dot in front.
const OPTIONS = { nocase: true, dot: true, bash: true };

/** One test for each key that has globs. */
function testsOf(globs: ServerGlobs): readonly Test[] {
  return MATCH_KEYS.flatMap((key) => {
    const wanted = globs[key];
    if (wanted === undefined) return [];
    const matches = wanted.map((glob) => picomatch(glob, OPTIONS));
    return [
      (server: ListedServer) => valuesOf(server, key).some((value) => matches.some((fits) => fits(value))),
    ];
  });
}

function valuesOf(server: ListedServer, key: MatchKey): readonly string[] {
  if (key === 'id') return [server.uuid, server.identifier];
  const value = server[key];
  return value === undefined ? [] : [value];
}
