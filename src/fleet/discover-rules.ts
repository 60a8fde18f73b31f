// The rules that select servers from the server list, with their globs compiled.

import picomatch from 'picomatch';
import { type DiscoverRules, MATCH_KEYS, type ServerGlobs } from '../domain/listing-settings.ts';
import type { ServerTarget } from '../domain/server.ts';
import { shortId } from '../domain/server-ids.ts';
import type { ListedServer } from '../panel/responses.ts';

/** The rules for discovered servers, with the globs compiled. */
export type CompiledRules = ReturnType<typeof compileRules>;

/** The fields that identify a server. */
export type ServerIdentity = Pick<ServerTarget, 'panel' | 'id' | 'name' | 'uuid'>;

const NO_LABELS: DiscoverRules['labels'][number]['labels'] = {};

/** Compiles a panel's rules, so that each listed server can be matched against them. */
export function compileRules(
  panel: string,
  { include, exclude, expect, query = [], labels, mode, maxServers }: DiscoverRules,
  isOurs: (server: ServerIdentity) => boolean = () => true,
) {
  const [included, excluded] = [compileGlobs(include), compileGlobs(exclude)];
  const tested = <Rule extends { readonly match: ServerGlobs }>(rules: readonly Rule[]) =>
    rules.map((rule) => ({ ...rule, tests: compileGlobs(rule.match) }));
  const [expectations, queries, labelings] = [tested(expect), tested(query), tested(labels)];
  /** The decisions of the rules about a listed server. */
  const judge = (server: ListedServer) => {
    const isFor = ({ tests }: Pick<(typeof queries)[number], 'tests'>) => tests.every((fits) => fits(server));
    const rule = expectations.findIndex(isFor);
    return {
      included: isFor({ tests: included }) && !excluded.some((fits) => fits(server)),
      expect: expectations[rule]?.state ?? 'auto',
      /** The index of the first expectation rule that matches; -1 if none does. */
      rule,
      /**
       * The query settings of the first rule that matches (the same object); undefined if the game
       * isn't queried.
       */
      query: queries.find(isFor)?.query,
      /** The labels of the first rule that matches. */
      labels: labelings.find(isFor)?.labels ?? NO_LABELS,
    };
  };
  /** Do the rules include the server, and is it monitored here? */
  const selects = onceFor(
    (server) => judge(server).included && isOurs({ panel, id: server.uuid, ...server }),
  );
  return { panel, mode, maxServers, judge, selects };
}

/**
 * Calls a function once for each entry of the server list, and remembers the result: most entries
 * are the same object in the next walk.
 */
function onceFor<Result>(read: (server: ListedServer) => Result): (server: ListedServer) => Result {
  const known = new WeakMap<ListedServer, { readonly result: Result }>();
  return (server) => {
    const found = known.get(server) ?? { result: read(server) };
    known.set(server, found);
    return found.result;
  };
}

// Names are not paths: a star also matches slashes and a leading dot.
const OPTIONS = { nocase: true, dot: true, bash: true };

/** One test for each key that has globs. */
function compileGlobs(globs: ServerGlobs) {
  return MATCH_KEYS.flatMap((key) => {
    const fits = globs[key] && picomatch([...globs[key]], OPTIONS);
    const fieldValues = ({ uuid, identifier, ...server }: ListedServer) =>
      key === 'id' ? [uuid, identifier, shortId({ id: uuid })] : [server[key] ?? []].flat();
    return fits === undefined
      ? []
      : [(server: ListedServer) => fieldValues(server).some((text) => fits(text))];
  });
}
