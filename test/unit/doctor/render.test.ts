import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { painter, wantsColours } from '../../../src/doctor/paint.ts';
import { issuesDocument, renderReport, reportDocument } from '../../../src/doctor/render.ts';
import { failed, problemsOf } from '../../../src/doctor/report.ts';
import { doctorReport, panelReport, serverReport } from './reports.ts';

const plain = painter(false);
const ALL_WELL = doctorReport(panelReport([serverReport('survival'), serverReport('creative')]));
const TROUBLED = doctorReport(
  panelReport([serverReport('survival'), serverReport('creative', 'upgrade', 'origin')], 'limit_not_told'),
);

describe('the report for a person', () => {
  it('shows tables and a last line where all is well', () => {
    expect(renderReport(ALL_WELL, plain)).toBe(`\
┌───────┬───────────────────────────┬───────┬─────┬───────┬─────────┬───────┐
│ panel │ url                       │ reach │ key │ limit │ listing │ clock │
├───────┼───────────────────────────┼───────┼─────┼───────┼─────────┼───────┤
│ main  │ https://panel.example.com │ ok    │ ok  │ ok    │ ok      │ ok    │
└───────┴───────────────────────────┴───────┴─────┴───────┴─────────┴───────┘

┌───────┬──────────┬───────┬─────────────┬─────────┬──────┬───────┬───────────┐
│ panel │ server   │ found │ credentials │ upgrade │ auth │ stats │ resources │
├───────┼──────────┼───────┼─────────────┼─────────┼──────┼───────┼───────────┤
│ main  │ survival │ ok    │ ok          │ ok      │ ok   │ ok    │ ok        │
│ main  │ creative │ ok    │ ok          │ ok      │ ok   │ ok    │ ok        │
└───────┴──────────┴───────┴─────────────┴─────────┴──────┴───────┴───────────┘

All is well: 1 panel, 2 servers (7 calls in 3 s).
`);
  });

  it('says of each problem what was seen, why, and what to do; failures first', () => {
    const text = renderReport(TROUBLED, plain);
    expect(text).toContain(`
1. panel main, server creative: upgrade failed
   What was seen: creative has trouble
   Likely cause:  The Origin header is not the panel's own address as its nodes know it.
   What to do:    Set origin for this panel`);
    expect(text).toContain('\n2. panel main: limit warning\n   What was seen: the limit is odd\n');
    expect(text).toMatch(/Not all is well: 1 of 2 servers with trouble \(7 calls in 3 s\)\.\n$/);
  });

  it('tells of servers that share a trouble once', () => {
    const servers = Array.from({ length: 2_000 }, (_, index) =>
      serverReport(`s${index}`, 'upgrade', 'origin'),
    );
    const text = renderReport(doctorReport(panelReport(servers)), plain);
    expect(text).toContain('\n1. panel main, servers s0, s1, s2, s3, s4 and 1995 more: upgrade failed\n');
    expect(text).not.toContain('\n2. ');
  });

  it('leaves those that are well out of a long table', () => {
    const servers = Array.from({ length: 150 }, (_, index) => serverReport(`s${index}`));
    const text = renderReport(
      doctorReport(panelReport([...servers, serverReport('odd', 'auth', 'closed')])),
      plain,
    );
    expect(text).toContain('│ odd ');
    expect(text).not.toContain('│ s149 ');
    expect(text).toContain('150 servers more: all well, and not shown.');
  });

  it('says so when it was stopped', () => {
    const report = { ...ALL_WELL, stopped: true };
    expect(renderReport(report, plain)).toContain('Not all is well: stopped before the end');
  });

  it('has colours where they are wanted alone', () => {
    const coloured = renderReport(TROUBLED, painter(true));
    expect(coloured).toContain('\u001b[31mfailed\u001b[39m');
    expect(stripVTControlCharacters(coloured)).toBe(renderReport(TROUBLED, plain));
  });
});

describe('colours', () => {
  it.each([
    [{ isTTY: true }, {}, true],
    [{ isTTY: true }, { NO_COLOR: '' }, true],
    [{ isTTY: true }, { NO_COLOR: '1' }, false],
    [{ isTTY: true }, { TERM: 'dumb' }, false],
    [{ isTTY: false }, {}, false],
    [{}, { TERM: 'xterm' }, false],
  ])('on %j with %j: %j', (stream, env, wanted) => {
    expect(wantsColours(stream, env)).toBe(wanted);
  });
});

describe('problems', () => {
  it('are joined by their cause over steps and servers, but not over panels', () => {
    const broken = serverReport('a', 'upgrade', 'origin');
    const report = doctorReport(
      panelReport([broken, serverReport('b', 'upgrade', 'origin'), serverReport('c', 'auth', 'origin')]),
      { ...panelReport([broken]), name: 'other' },
    );
    expect(problemsOf(report)).toMatchObject([
      { panel: 'main', cause: 'origin', steps: ['upgrade', 'auth'], servers: ['a', 'b', 'c'] },
      { panel: 'other', cause: 'origin', steps: ['upgrade'], servers: ['a'] },
    ]);
  });
});

describe('servers with one cause', () => {
  const failing = (details: readonly string[], name = (index: number) => `s${index}`) => {
    const servers = details.map((detail, index) => ({
      name: name(index),
      id: `id-${index}`,
      steps: [failed('auth', 'token_refused', detail)],
      durationMs: 0,
    }));
    return problemsOf(doctorReport(panelReport(servers)));
  };

  it('are one problem, if their words differ in addresses, ids, numbers and the server itself', () => {
    const details = Array.from(
      { length: 1_000 },
      (_, index) =>
        `connecting to node${index}.example.com:${8_000 + index} (10.0.0.${index}) for s${index}, 1a7c${index}-e997, failed after ${index + 5_000} ms`,
    );
    const problems = failing(details);
    expect(problems.length).toBe(1);
    expect(problems[0]?.servers.length).toBe(1_000);
    expect(problems[0]?.detail).toBe(details[0]);
  });

  it('are several, if what was said to them differs', () => {
    const problems = failing([
      'said: "no way"',
      'said: "no luck"',
      'said: "No way."',
      'answered 403',
      'answered 500',
    ]);
    expect(problems.map(({ servers }) => servers)).toEqual([['s0', 's2'], ['s1'], ['s3'], ['s4']]);
  });

  it('are not told apart by words without end', () => {
    const words = Array.from({ length: 100 }, (_, index) => 'x'.repeat(index + 1));
    const problems = failing(words);
    expect(problems.length).toBe(10);
    expect(problems.flatMap(({ servers }) => servers).length).toBe(100);
  });

  it('are one problem each, although it shows at several steps in different words', () => {
    const steps = [
      failed('credentials', 'suspended', 'this'),
      failed('resources', 'suspended', 'that'),
    ] as const;
    const report = doctorReport(panelReport([{ name: 'a', id: 'a', steps, durationMs: 0 }]));
    expect(problemsOf(report)).toMatchObject([{ steps: ['credentials', 'resources'], servers: ['a'] }]);
  });
});

describe('the JSON document', () => {
  it('has these fields', () => {
    expect(JSON.parse(JSON.stringify(reportDocument(TROUBLED)))).toEqual({
      ok: false,
      stopped: false,
      duration_seconds: 2.5,
      configuration_issues: [],
      panels: [
        {
          name: 'main',
          url: 'https://panel.example.com',
          ok: false,
          duration_seconds: 2,
          calls: 7,
          steps: expect.arrayContaining([
            { step: 'reach', result: 'ok', detail: 'fine' },
            {
              step: 'limit',
              result: 'warning',
              detail: 'the limit is odd',
              cause: 'limit_not_told',
              likely: expect.any(String),
              change: expect.any(String),
            },
          ]),
          servers: [
            {
              name: 'survival',
              id: 'survival-id',
              ok: true,
              duration_seconds: 1.5,
              steps: ['found', 'credentials', 'upgrade', 'auth', 'stats', 'resources'].map((step) => ({
                step,
                result: 'ok',
                detail: 'fine',
              })),
            },
            expect.objectContaining({ name: 'creative', ok: false }),
          ],
        },
      ],
    });
    expect(reportDocument(ALL_WELL)).toMatchObject({ ok: true });
  });

  it('is the same where the configuration is no good', () => {
    const issue = { file: 'config.yaml', line: 1, column: 9, path: 'panels', message: 'expected a panel' };
    const document = issuesDocument([issue]);
    expect(Object.keys(document)).toEqual(Object.keys(reportDocument(ALL_WELL)));
    expect(document).toMatchObject({ ok: false, configuration_issues: [issue] });
  });
});
