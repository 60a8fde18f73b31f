import { describe, expect, it } from 'vitest';
import type { Problem } from '../../../src/domain/problems.ts';
import { QueryLog } from '../../../src/fleet/query-log.ts';
import { collectingLogger } from '../../support/logger.ts';
import { target } from '../../support/targets.ts';

const silent: Problem = { cause: 'query_no_answer', detail: 'no response' };
const server = { target: target({ name: 'survival' }), node: 'n1' };

/** A log, and its lines as level and event. */
function stage() {
  const logger = collectingLogger();
  const log = new QueryLog(logger);
  const lines = () => logger.lines.map(({ level, fields }) => [level, (fields as { event: string }).event]);
  return { log, lines, logger };
}

describe('the log of queries', () => {
  it('has one warning until a response, which it has too', () => {
    const { log, lines } = stage();
    for (const problem of [undefined, silent, silent, undefined, undefined]) log.queried(server, problem);
    expect(lines()).toEqual([
      ['warn', 'query_failed'],
      ['debug', 'query_failed'],
      ['info', 'query_answered'],
    ]);
  });

  it('warns of each server', () => {
    const { log, lines } = stage();
    log.queried(server, silent);
    log.queried({ ...server }, silent);
    expect(lines()).toEqual([
      ['warn', 'query_failed'],
      ['warn', 'query_failed'],
    ]);
  });

  it('does not warn of a server that may have no query', () => {
    const { log, lines } = stage();
    log.queried(server, { cause: 'query_never_answered', detail: 'no response' });
    log.queried(server, undefined);
    expect(lines()).toEqual([['debug', 'query_failed']]);
  });

  it('names the server, the cause and what to do', () => {
    const { log, logger } = stage();
    log.queried(server, silent);
    const [line] = logger.lines;
    expect(line?.fields).toMatchObject({ server: 'survival', node: 'n1', cause: 'query_no_answer' });
    expect(line?.message).toMatch(/^server survival is running, but can't be queried: no response\. ./);
  });
});
