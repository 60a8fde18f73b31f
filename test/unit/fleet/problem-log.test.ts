import { expect, it } from 'vitest';
import type { Problem } from '../../../src/domain/problems.ts';
import { problemLog } from '../../../src/fleet/problem-log.ts';
import { collectingLogger } from '../../support/logger.ts';

const INCOMPLETE: Problem = { cause: 'listing_too_long', detail: 'page 3 of 5 failed' };
const REFUSED: Problem = { cause: 'listing_refused', detail: 'no permission' };
const ENDED = {
  listing_too_long: 'server list complete again',
  listing_refused: 'server list complete again',
};

const starting = (...texts: readonly string[]) => texts.map((text) => expect.stringContaining(text));

it.each<[string, readonly (readonly Problem[])[], readonly unknown[]]>([
  ['that begins is a warning, once', [[INCOMPLETE], [INCOMPLETE]], starting('warn: panel main: ')],
  [
    'whose detail changes is another warning',
    [[INCOMPLETE], [{ ...INCOMPLETE, detail: 'page 4 of 5 failed' }]],
    starting('page 3 of 5', 'page 4 of 5'),
  ],
  [
    'that ends is information',
    [[INCOMPLETE], []],
    starting('warn: ', 'info: panel main: server list complete again'),
  ],
  [
    'that ends while another with the same text goes on isn’t over',
    [[INCOMPLETE, REFUSED], [REFUSED]],
    starting('page 3', 'no permission'),
  ],
  [
    'without a text for its end just ends',
    [[{ cause: 'nothing_listed', detail: 'none' }], []],
    starting('warn: '),
  ],
])('a problem %s', (_what, instants, expected) => {
  const logger = collectingLogger();
  const log = problemLog('main', logger, ENDED);
  for (const problems of instants) log(problems, { listed: 5 });
  expect(logger.lines.map(({ level, message }) => `${level}: ${message}`)).toEqual(expected);
});

it('the figures that explain a problem are fields of its line', () => {
  const logger = collectingLogger();
  problemLog('main', logger)([INCOMPLETE], { listed: 5 });
  expect(logger.lines[0]?.fields).toEqual({ listed: 5, panel: 'main', ...INCOMPLETE });
});
