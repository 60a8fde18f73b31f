import { expect, it } from 'vitest';
import type { Simulator } from '../../../src/simulator/simulator-interface.ts';
import { eventually } from '../../support/eventually.ts';
import { type ExporterUnderTest, fastClock } from '../../support/exporter.ts';
import { Answerer, LOOPBACK, MANY_FIELDS, valveInfo } from '../../support/game-answers.ts';
import { observed, panelEntry, simulated } from '../../support/stage.ts';

const HOSTILE = 8;
const GOOD = 4;

/**
 * A low speed, because the query threads use the system's clock. At a higher speed, a busy machine
 * would look like a silent game.
 */
const clock = fastClock(2);

const panelWith = (servers: number) => simulated({ clock, rateLimitPerMinute: 6_000, servers });

/** A panel's entry. All of its servers are queried at this port. */
const entry = (name: string, panel: Simulator, type: string, port: number) =>
  panelEntry(
    panel,
    [
      'servers:',
      ...panel.servers.map(
        ({ identifier }) =>
          `  - { id: "${identifier}", query: { type: ${type}, address: "${LOOPBACK}:${port}", interval: 10s } }`,
      ),
    ],
    name,
  );

/** The number of servers that responded to their last query, and of those that didn't. */
async function queried(exporter: ExporterUnderTest, panel: string) {
  const text = await exporter.scrape();
  const values = [...text.matchAll(/^gameserver_query_up\{panel="(\w+)".* (\d)$/gm)];
  const up = values.filter(([, name]) => name === panel).map(([, , value]) => value);
  return { up: up.filter((value) => value === '1').length, down: up.filter((value) => value === '0').length };
}

it("a panel's games that keep their decoder busy, all at once, don't disturb queries of another panel's games", async () => {
  await using hostile = await Answerer.udp(({ reply }) => reply(MANY_FIELDS));
  await using good = await Answerer.udp(({ reply }) => reply(valveInfo(3, 10)));
  const panels = [
    entry('hostile', await panelWith(HOSTILE), 'unrealtournament', hostile.port),
    entry('good', await panelWith(GOOD), 'rust', good.port),
  ];
  const exporter = await observed({
    yaml: ['panels:', ...panels].join('\n'),
    clock,
    queryClient: 'real',
  });
  await eventually(async () => {
    expect((await queried(exporter, 'good')).down).toBe(0);
    expect(await queried(exporter, 'hostile')).toEqual({ up: 0, down: HOSTILE });
  });
  expect(await queried(exporter, 'good')).toEqual({ up: GOOD, down: 0 });
});
