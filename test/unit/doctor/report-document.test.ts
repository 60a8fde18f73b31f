import { describe, expect, it } from 'vitest';
import { VERSION } from '../../../src/build-info.ts';
import { CAUSES } from '../../../src/diagnosis/causes.ts';
import { issuesDocument, reportDocument } from '../../../src/doctor/report-document.ts';
import { ALL_WELL, TROUBLED } from './reports.ts';

describe('the JSON document', () => {
  it('has these fields', () => {
    expect(JSON.parse(JSON.stringify(reportDocument(TROUBLED)))).toEqual({
      ok: false,
      stopped: false,
      duration_seconds: 2.5,
      version: VERSION,
      configuration_issues: [],
      panels: [
        {
          name: 'main',
          url: 'https://panel.example.com',
          ok: false,
          up: true,
          calls: 7,
          untested: 0,
          limit: {
            panel_calls_per_minute: 240,
            allowed_calls_per_minute: 192,
            required_calls_per_minute: 1.55,
          },
          problems: [
            {
              cause: 'origin',
              detail: 'it was seen',
              result: 'failed',
              nodes: ['fra-1'],
              servers: ['creative'],
              likely: CAUSES.origin.meaning,
              change: CAUSES.origin.remedy,
            },
            expect.objectContaining({ cause: 'limit_unknown', result: 'warning', nodes: [], servers: [] }),
          ],
          servers: [
            {
              name: 'survival',
              id: 'survival-id',
              node: 'node-1',
              ok: true,
              result: 'ok',
              condition: 'streaming',
              state: 'running',
              problems: [],
            },
            expect.objectContaining({
              name: 'creative',
              ok: false,
              result: 'failed',
              problems: [{ cause: 'origin', detail: 'creative has trouble' }],
            }),
          ],
        },
      ],
    });
    expect(reportDocument(ALL_WELL)).toMatchObject({ ok: true });
  });

  it('has the same fields if the configuration is invalid', () => {
    const issue = { file: 'config.yaml', line: 1, column: 9, path: 'panels', message: 'expected a panel' };
    const document = issuesDocument([issue]);
    expect(Object.keys(document)).toEqual(Object.keys(reportDocument(ALL_WELL)));
    expect(document).toMatchObject({ ok: false, configuration_issues: [issue] });
  });
});
