import { beforeEach, describe, expect, it } from 'vitest';
import { isAllHealthy } from '../../../src/doctor/report.ts';
import type { QueryClient } from '../../../src/query/thread.ts';
import type { Answer, Question } from '../../../src/query/ways.ts';
import type { ServerSpec } from '../../../src/simulator/schema.ts';
import { examined, problemsOf, serverNamed, shownOf } from '../../support/doctor.ts';
import { simulated, yamlOf } from '../../support/stage.ts';

const SPEC: ServerSpec = { name: 'survival', allocation: { ip: '203.0.113.7', port: 25_565 } };
const answeredAt = '203.0.113.7, TCP port 25565 (minecraftvanilla)';
const TWELVE: Answer = { players: 12, playersMax: 40, answeredAt };

let queried: Question[];
let outcome: Answer;

const queryClient: QueryClient = {
  query: (question) => {
    queried.push(question);
    return Promise.resolve(outcome);
  },
};

beforeEach(() => {
  queried = [];
  outcome = TWELVE;
});

/** Runs doctor on a panel with one server, which has this query. */
async function examineServer(query: string, spec: ServerSpec = SPEC) {
  const panel = await simulated({ servers: [spec] });
  const { uuid } = panel.server('survival');
  const yaml = yamlOf(panel, [`servers: [{ id: ${uuid}, name: survival${query} }]`]);
  return examined({ yaml, queryClient });
}

const MINECRAFT = ', query: { type: minecraft }';

describe('the query of a game', () => {
  it('passes if the game responds at the default allocation', async () => {
    const report = await examineServer(MINECRAFT);
    expect(serverNamed(report, 'survival')).toMatchObject({ result: 'ok', players: 12 });
    expect(new Set(queried[0]?.ways.map(({ ip, port }) => `${ip} ${port}`))).toEqual(
      new Set(['203.0.113.7 25565', '203.0.113.7 25564']),
    );
    expect(isAllHealthy(report)).toBe(true);
    expect(shownOf(report)).toContain('survival  ok       streaming, running, 12 players\n');
  });

  it('fails with the cause of the query', async () => {
    outcome = { problem: { cause: 'query_no_answer', detail: 'some words' } };
    const report = await examineServer(MINECRAFT);
    expect(problemsOf(report)).toMatchObject([
      { result: 'failed', cause: 'query_no_answer', detail: 'some words', servers: ['survival'] },
    ]);
    expect(isAllHealthy(report)).toBe(false);
  });

  it.each<[string, ServerSpec]>([
    ['query_address_missing', { ...SPEC, allocation: null }],
    ['query_address_not_allowed', { ...SPEC, allocation: { ip: '100.100.100.200', port: 80 } }],
  ])('fails without sending a query if there is no address: %s', async (cause, spec) => {
    const report = await examineServer(MINECRAFT, spec);
    expect(problemsOf(report)).toMatchObject([{ result: 'failed', cause, servers: ['survival'] }]);
    expect(queried).toEqual([]);
  });
});
