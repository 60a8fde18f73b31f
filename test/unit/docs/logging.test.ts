import { it } from 'vitest';
import { CAUSES } from '../../../src/diagnosis/causes.ts';
import { SERVER_EVENTS } from '../../../src/domain/log.ts';
import { summaryLine } from '../../../src/fleet/event-words.ts';
import { expectSection } from '../../support/generated.ts';

const FILE = 'docs/logging.md';

function table(...rows: readonly (readonly string[])[]): string {
  const [head = [], ...body] = rows;
  return [head, head.map(() => '---'), ...body].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

it('the page lists every event with its summary line', () => {
  const rows = SERVER_EVENTS.map((event) => {
    const group = {
      level: 'info',
      event,
      end: undefined,
      cause: undefined,
      servers: 12,
      events: 12,
    } as const;
    const { message } = summaryLine('main', {
      type: 'groups',
      groups: [{ ...group, names: ['survival', 'creative', 'lobby'], nodes: new Map() }],
      events: 12,
    });
    return [`\`${event}\``, message.replace(/: survival.*/, '')];
  });
  expectSection(FILE, 'events', table(['`event`', 'in a summary of 12 servers'], ...rows));
});

it('the page lists every cause', () => {
  const rows = Object.values(CAUSES).map(({ code, scope, title }) => [`\`${code}\``, title, scope]);
  expectSection(FILE, 'causes', table(['`cause`', 'title', 'concerns'], ...rows));
});
