// The rules that select servers from the server list, with compiled globs.

import picomatch from 'picomatch';
import { type DiscoverRules, MATCH_KEYS, type ServerGlobs } from '../domain/listing-settings.ts';
import type { ServerTarget } from '../domain/server.ts';
import { shortId } from '../domain/server-ids.ts';
import type { ListedServer } from '../panel/responses.ts';

/** The discovery rules with compiled globs. */
export type CompiledRules = ReturnType<typeof compileRules>;

/** The fields that identify a server. */
export type ServerIdentity = Pick<ServerTarget, 'panel' | 'id' | 'name' | 'uuid'>;

const NO_LABELS: DiscoverRules['labels'][number]['labels'] = {};

/** Compiles a panel's rules for matching listed servers. */
export function compileRules(
  panel: string,
  { include, exclude, expect, query = [], labels, mode, maxServers }: DiscoverRules,
  isOurs: (server: ServerIdentity) => boolean = () => true,
) {
  const [included, excluded] = [compileGlobs(include), compileGlobs(exclude)];
  const tested = <Rule extends { readonly match: ServerGlobs }>(rules: readonly Rule[]) =>
    rules.map((rule) => ({ ...rule, tests: compileGlobs(rule.match) }));
  const [expectations, queries, labelings] = [tested(expect), tested(query), tested(labels)];
  /** The rules' decisions about a listed server. */
  const judge = (server: ListedServer) => {
    const isFor = ({ tests }: Pick<(typeof queries)[number], 'tests'>) => tests.every((fits) => fits(server));
    const rule = expectations.findIndex(isFor);
    return {
      included: isFor({ tests: included }) && !excluded.some((fits) => fits(server)),
      expect: expectations[rule]?.state ?? 'auto',
      /** The index of the first matching `expect` rule; -1 if there is none. */
      rule,
      /**
       * The query settings of the first matching rule (the same object); undefined if the game
       * isn't queried.
       */
      query: queries.find(isFor)?.query,
      /** The labels of the first matching rule. */
      labels: labelings.find(isFor)?.labels ?? NO_LABELS,
    };
  };
  /** Do the rules include the server, and is it in this shard? */
  const selects = onceFor(
    (server) => judge(server).included && isOurs({ panel, id: server.uuid, ...server }),
  );
  return { panel, mode, maxServers, judge, selects };
}

/**
 * Caches a function's results by server list entry: in the next walk, most entries are the same
 * object.
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
