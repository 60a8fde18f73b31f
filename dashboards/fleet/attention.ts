import {
  MappingType,
  type SpecialValueMap,
  SpecialValueMatch,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { PLAIN, ROW_TO_SERVER, wordsFor } from '../appearance.ts';
import type { Section } from '../board.ts';
import { table } from '../table.ts';
import { PROBLEM_WORDS, REMEDY_WORDS, URGENCY_WORDS } from './advice.ts';
import { LONG_AGO, needAttention } from './problems.ts';

const NOT_KNOWN: SpecialValueMap = {
  type: MappingType.SpecialValue,
  options: { match: SpecialValueMatch.NotANumber, result: { text: '–', color: PLAIN, index: 1 } },
};

export const attention: Section = {
  title: 'Who needs attention',
  panels: [
    table({
      title: 'Who needs attention',
      description:
        'Exporters, panels and nodes that are down, then one row for each server, with its most urgent problem. Servers of a panel or node that is down have no rows of their own. Servers that are suspended, or off as expected, need nobody.',
      unit: 's',
      noValue: 'Nothing that is observed needs attention',
      height: 11,
      columns: [
        { label: 'urgency', name: 'Urgency', width: 90, mappings: [URGENCY_WORDS] },
        {
          label: 'problem',
          name: 'Problem',
          width: 150,
          grows: true,
          wraps: true,
          mappings: [PROBLEM_WORDS],
        },
        { label: 'server', name: 'Server', width: 120, grows: true, link: ROW_TO_SERVER },
        { label: 'node', name: 'Node or exporter', width: 140 },
        { label: 'panel', name: 'Panel', width: 90 },
        {
          expr: needAttention(),
          name: 'For',
          width: 110,
          unit: 's',
          decimals: 0,
          mappings: [wordsFor({ [LONG_AGO]: ['over 12 hours', PLAIN] }), NOT_KNOWN],
        },
        { label: 'todo', name: 'What to do', width: 240, grows: true, wraps: true, mappings: [REMEDY_WORDS] },
      ],
      hiddenLabels: ['server_id', 'reason', 'cause', 'job', 'instance'],
      sortBy: [
        ['Urgency', 'ascending'],
        ['For', 'ascending'],
      ],
    }),
  ],
};
