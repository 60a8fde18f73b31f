import { expect, it } from 'vitest';
import { SERVER_PROBLEMS } from '../../../src/diagnosis/server-problems.ts';
import {
  ATTENTION_CODES,
  type AttentionGroup,
  attentionGroup,
} from '../../../src/status-page/data/attention-codes.ts';
import { readText } from '../../support/deploy-files.ts';

/** The names of the counts at the top of the page, as in the table. */
const COUNTS: Readonly<Record<AttentionGroup, string>> = {
  down: 'down',
  no_data: 'no data',
  warning: 'warning',
  unclear: SERVER_PROBLEMS.unclear.title,
};

it('the page of docs lists every problem that is counted, in the order of the status page', () => {
  const [, section = ''] = readText('docs/status-page.md').split('\n## Problems\n');
  const [, ...rows] = section.matchAll(/^\| `([a-z_]+)` \| ([^|]+) \|/gm);
  expect(rows.slice(0, ATTENTION_CODES.length).map(([, code, count]) => [code, count])).toEqual(
    ATTENTION_CODES.map((code) => [code, COUNTS[attentionGroup(code)]]),
  );
});
