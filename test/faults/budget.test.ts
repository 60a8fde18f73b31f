// Faults of the API budget.
import { afterEach, expect, it } from 'vitest';
import { CAUSES } from '../../src/diagnosis/causes.ts';
import { startSimulator } from '../../src/simulator/simulator.ts';
import type { Simulator } from '../../src/simulator/simulator-interface.ts';
import { eventually } from '../support/eventually.ts';
import { configFor, type ExporterUnderTest, fastClock, startExporter } from '../support/exporter.ts';
import { BACKLOG_ROW, BUDGET_ROW } from './rows/budget.ts';

let panel: Simulator | undefined;
let exporter: ExporterUnderTest | undefined;

afterEach(async () => {
  await exporter?.stop();
  await panel?.stop();
});

const { name, cause } = BUDGET_ROW;

it.each([name])('%s', async () => {
  const clock = fastClock();
  const simulated = await startSimulator({ servers: 40, clock, rateLimitPerMinute: 1_000_000 });
  panel = simulated;
  const started = await startExporter({ yaml: configFor(simulated, ['requests_per_minute: 2']), clock });
  exporter = started;
  await eventually(() =>
    expect(started.lines.filter(({ level }) => level === 'warn')).toEqual([
      expect.objectContaining({ fields: expect.objectContaining({ panel: 'main', cause }) as object }),
    ]),
  );
  const problems = async () => {
    const answer = await fetch(`${started.url}/api/v1/servers`);
    const { panels } = (await answer.json()) as { panels: { problems: object[] }[] };
    return panels[0]?.problems;
  };
  expect(await problems()).toEqual([
    {
      cause,
      detail: expect.stringMatching(
        /^40 servers need 5\.2 API calls per minute, but `requests_per_minute` allows 2: sockets reconnect late/,
      ) as string,
      remedy: CAUSES[cause].remedy,
    },
  ]);
  await started.reload(configFor(simulated, ['requests_per_minute: 6000']));
  await eventually(() =>
    expect(started.lines.map(({ message }) => message)).toContain(
      'panel main: streaming 40 servers; using up to 6000 of 1000000 calls per minute',
    ),
  );
  expect(await problems()).toEqual([]);
});

it.each([BACKLOG_ROW])('$name', async ({ cause: backlog }) => {
  const clock = fastClock();
  const simulated = await startSimulator({ servers: 40, clock, rateLimitPerMinute: 1_000_000 });
  panel = simulated;
  const started = await startExporter({ yaml: configFor(simulated, ['requests_per_minute: 8']), clock });
  exporter = started;
  const problems = async () => {
    const answer = await fetch(`${started.url}/api/v1/servers`);
    const { panels } = (await answer.json()) as {
      panels: { problems: { cause: string; detail: string }[] }[];
    };
    return panels[0]?.problems;
  };
  await eventually(async () =>
    expect(await problems()).toEqual([
      expect.objectContaining({
        cause: backlog,
        detail: expect.stringMatching(
          /^\d+ calls waiting, 8 per minute allowed: about \d+ min left$/,
        ) as string,
      }),
    ]),
  );
  await eventually(async () => expect(await problems()).toEqual([]));
});
