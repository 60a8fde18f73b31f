import fc from 'fast-check';
import { expect, vi } from 'vitest';
import { describeFuzz } from '../../support/fuzz.ts';
import { EVENTS, frameText } from '../../support/hostile.ts';
import {
  HEALTH,
  NODE_BEHAVIORS,
  PANEL_BEHAVIORS,
  ROLES,
  SessionWorld,
  type WorldEvent,
} from './session-world.ts';

/** Longer than the longest wait of a session: a slow retry after a pause of ten minutes. */
const PATIENCE_MS = 30 * 60_000;

const frame = fc.oneof(
  frameText,
  fc.constantFrom(...EVENTS).map((event) => JSON.stringify({ event })),
  fc
    .constantFrom('jwt: exp claim is invalid', 'jwt: missing connect permission')
    .map((text) => JSON.stringify({ event: 'jwt error', args: [text] })),
  fc.constant(JSON.stringify({ event: 'daemon error', args: ['an unexpected error was encountered'] })),
);

const worldEvent: fc.Arbitrary<WorldEvent> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      wait: fc.oneof(fc.nat({ max: 100 }), fc.nat({ max: 20_000 }), fc.nat({ max: 700_000 })),
    }),
  },
  { weight: 3, arbitrary: fc.record({ panel: fc.constantFrom(...PANEL_BEHAVIORS) }) },
  {
    weight: 3,
    arbitrary: fc.record({ node: fc.constantFrom(...NODE_BEHAVIORS), closeMs: fc.nat({ max: 1_000 }) }),
  },
  { weight: 3, arbitrary: fc.record({ role: fc.constantFrom('stream', ...ROLES) }) },
  { weight: 4, arbitrary: fc.record({ frame, times: fc.constantFrom(1, 1, 50) }) },
  {
    weight: 2,
    arbitrary: fc.record({ close: fc.constantFrom(1000, 1001, 1006, 1009, 1011, 4400, 4409) }),
  },
  { weight: 2, arbitrary: fc.record({ health: fc.constantFrom(...HEALTH) }) },
  { weight: 2, arbitrary: fc.record({ sockets: fc.constantFrom('open', 'closed') }) },
);

describeFuzz({
  folder: 'session',
  holds:
    'a session has at most one socket, sends at most two frames a second, makes at most two credential calls per minute, knows the cause of each problem, and always recovers',
  runs: 250,
  input: fc.record({
    seed: fc.nat({ max: 2_147_483_647 }),
    events: fc.array(worldEvent, { minLength: 1, maxLength: 40, size: 'max' }),
  }),
  expectHeld: async ({ seed, events }) => {
    const world = new SessionWorld(seed);
    world.assume('stream');
    for (const each of events) await world.apply(each);

    world.panelBehavior = 'well';
    world.nodeBehavior = 'well';
    world.closeMs = 1_000;
    world.newest?.closedByNode(1006);
    world.assume('stream');
    world.setSockets('closed');
    for (let waited = 0; waited < PATIENCE_MS && world.condition !== 'streaming'; waited += 5_000) {
      await world.clock.advance(5_000);
    }
    expect(world.condition, 'after everything recovered').toBe('streaming');
    expect(world.live.size).toBe(1);

    const stopped = vi.fn<() => void>();
    void world.stop().then(stopped);
    // A second for the response to the close frame, and the moment in which the node closes.
    await world.clock.advance(1_001);
    expect(world.violations).toEqual([]);
    expect({
      stopped: stopped.mock.calls.length,
      sockets: world.live.size,
      timers: world.clock.pending,
    }).toEqual({
      stopped: 1,
      sockets: 0,
      timers: 0,
    });
  },
});
