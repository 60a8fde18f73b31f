import { it } from 'vitest';
import { SERVER_EVENTS } from '../../../src/domain/log.ts';
import { EventCount, FULL_LINES } from '../../../src/fleet/server-log.ts';
import { expectSection } from '../../support/generated.ts';

const FILE = 'docs/logging.md';

function table(...rows: readonly (readonly string[])[]): string {
  const [head = [], ...body] = rows;
  return [head, head.map(() => '---'), ...body].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

it('the page lists every event with the line that counts it', () => {
  const rows = SERVER_EVENTS.map((event) => {
    const count = new EventCount({ panel: 'main', event });
    for (let n = 1; n <= FULL_LINES + 12; n += 1)
      count.add({ panel: 'main', server: `server-${n}`, server_id: `id-${n}`, event });
    return [`\`${event}\``, (count.line()?.message ?? '').replace(/ \(server-.*\)/, '')];
  });
  expectSection(FILE, 'events', table(['`event`', 'if 12 more are counted'], ...rows));
});
