import {
  MappingType,
  type SpecialValueMap,
  SpecialValueMatch,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { PLAIN, ROW_TO_SERVER, wordsFor } from '../appearance.ts';
import type { Section } from '../board.ts';
import { table } from '../table.ts';
import { PROBLEM_TEXTS, REMEDY_TEXTS, URGENCY_WORDS } from './advice.ts';
import { LONG_AGO, problemRows } from './problems.ts';

const UNKNOWN: SpecialValueMap = {
  type: MappingType.SpecialValue,
  options: { match: SpecialValueMatch.NotANumber, result: { text: '–', color: PLAIN, index: 1 } },
};

export const problems: Section = {
  title: 'Problems',
  panels: [
    table({
      title: 'Problems',
      description:
        "Exporters, panels and nodes that are down, followed by one row per server with its most urgent problem. Servers of a panel or node that is down have no rows of their own. Servers that are blocked for a while or expected to be off aren't listed. The rows of servers require the recording rules.",
      unit: 's',
      noValue: 'No problems found',
      height: 9,
      columns: [
        { label: 'urgency', name: 'Urgency', width: 90, mappings: [URGENCY_WORDS] },
        {
          label: 'problem',
          name: 'Problem',
          width: 165,
          wraps: true,
          texts: PROBLEM_TEXTS,
        },
        { label: 'server', name: 'Server', width: 140, filters: true, link: ROW_TO_SERVER },
        { label: 'node', name: 'Node or exporter', width: 140 },
        { label: 'panel', name: 'Panel', width: 90 },
        {
          expr: problemRows(),
          name: 'For',
          width: 110,
          unit: 's',
          decimals: 0,
          mappings: [wordsFor({ [LONG_AGO]: ['over 12 hours', PLAIN] }), UNKNOWN],
        },
        { label: 'todo', name: 'What to do', width: 185, grows: true, wraps: true, texts: REMEDY_TEXTS },
      ],
      hiddenLabels: ['server_id', 'reason', 'cause', 'job', 'instance'],
      sortBy: [
        ['Urgency', 'ascending'],
        ['For', 'ascending'],
      ],
    }),
  ],
};
