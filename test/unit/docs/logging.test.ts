import { it } from 'vitest';
import { SERVER_EVENTS } from '../../../src/fleet/server-events.ts';
import { expectSection } from '../../support/generated.ts';

const FILE = 'docs/logging.md';

it('the page lists every event', () => {
  const names = Object.keys(SERVER_EVENTS)
    .map((event) => `\`${event}\``)
    .join(', ');
  expectSection(FILE, 'events', `The events are ${names}.`);
});
