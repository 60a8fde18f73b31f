import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import stringWidth from 'fast-string-width';
import { describe, expect, it } from 'vitest';
import { CAUSES } from '../../../src/diagnosis/causes.ts';
import { painter, wantsColors } from '../../../src/doctor/paint.ts';
import { NOT_REACHED } from '../../../src/doctor/panel-trial.ts';
import { issuesDocument, renderReport, reportDocument } from '../../../src/doctor/render.ts';
import {
  failed,
  PANEL_STEPS,
  passed,
  problemsOf,
  SERVER_STEPS,
  skipped,
} from '../../../src/doctor/report.ts';
import { untested } from '../../../src/doctor/server-steps.ts';
import type { CauseCode } from '../../../src/domain/problem.ts';
import { target } from '../../support/targets.ts';
import { doctorReport, panelReport, serverReport } from './reports.ts';

const plain = painter(false);
const ALL_WELL = doctorReport(panelReport([serverReport('survival'), serverReport('creative')]));
const TROUBLED = doctorReport(
  panelReport([serverReport('survival'), serverReport('creative', 'upgrade', 'origin')], 'limit_unknown'),
);

describe('the readable report', () => {
  it('shows every panel with its servers and a summary if there are no problems', () => {
    expect(renderReport(ALL_WELL, plain)).toBe(`\
panel main: https://panel.example.com
  reach    ok       fine
  key      ok       fine
  limit    ok       fine
  listing  ok       fine
  clock    ok       fine

  survival  ok       found, credentials, upgrade, auth, stats, resources
  creative  ok       found, credentials, upgrade, auth, stats, resources

No problems: 1 panel, 2 servers (7 calls in 3 s).
`);
  });

  it('begins with the problems, failures first: what to do, where, and what was seen', () => {
    const text = renderReport(TROUBLED, plain);
    expect(text).toMatch(
      /^1\. Set origin to APP_URL from the panel's \.env, without a trailing slash\.\n {3}The node/,
    );
    expect(text).toContain(`
   Where:         panel main, server creative: upgrade failed
   Details:       creative has trouble
   Likely cause:  The Origin header doesn't match the panel's address as the
                  node knows it.

2. Set requests_per_minute if the panel allows more than 60 calls per minute.
   Where:         panel main: limit warning
   Details:       the limit is odd
`);
    expect(text).toContain('\n  creative  failed   upgrade: Origin rejected by the node\n');
    expect(text).toMatch(/Problems found: 1 of 2 servers failed \(7 calls in 3 s\)\.\n$/);
  });

  it('lists servers with the same problem once', () => {
    const servers = Array.from({ length: 2_000 }, (_, index) =>
      serverReport(`s${index}`, 'upgrade', 'origin'),
    );
    const text = renderReport(doctorReport(panelReport(servers)), plain);
    expect(text.replaceAll(/\n {18}/g, ' ')).toContain(
      '\n   Where:         panel main, servers s0, s1, s2, s3, s4 and 1995 more: upgrade failed\n',
    );
    expect(text).toContain('\n  2000 servers  failed   upgrade: Origin rejected by the node\n');
    expect(text).not.toContain('\n2. ');
  });

  it('omits healthy servers from a long table', () => {
    const servers = Array.from({ length: 150 }, (_, index) => serverReport(`s${index}`));
    const text = renderReport(
      doctorReport(panelReport([...servers, serverReport('odd', 'auth', 'closed')])),
      plain,
    );
    expect(text).toContain('\n  odd  failed   auth: socket closed\n');
    expect(text).not.toContain('  s149 ');
    expect(text).toContain('150 servers without problems (not shown)');
  });

  it('shows a panel that fails as a whole as one block, however many servers it has', () => {
    const servers = Array.from({ length: 150 }, (_, index) =>
      untested(target({ name: `s${index}` }), NOT_REACHED),
    );
    const why = 'not tested: the panel was not reached';
    const steps = PANEL_STEPS.map((step) =>
      step === 'reach' ? failed(step, 'dns', 'resolving panel.example.com failed') : skipped(step, why),
    );
    const text = renderReport(doctorReport({ ...panelReport(servers), steps }), plain);
    expect(text).toBe(`\
1. Correct url, or fix DNS on this machine.
   Where:         panel main: reach failed
   Details:       resolving panel.example.com failed
   Likely cause:  The host in url is misspelled, or this machine's DNS server
                  doesn't know it.

panel main: https://panel.example.com
  reach                       failed   panel name not resolved
  key, limit, listing, clock  -        not tested: the panel was not reached

  150 servers not tested: the panel was not reached

Problems found: the panel failed, 150 servers not tested (7 calls in 3 s).
`);
  });

  it('shows the same advice once for all its problems', () => {
    const one = serverReport('a', 'credentials', 'unauthorized');
    const other = serverReport('b', 'credentials', 'no_console_permission');
    const report = doctorReport(panelReport([one, other]), { ...panelReport([one]), name: 'second' });
    const text = renderReport(report, plain);
    expect(text.match(/Grant the key's account the websocket/g)).toHaveLength(1);
    expect(text.match(/^ {3}Where: /gm)).toHaveLength(3);
    expect(text.match(/^ {3}Likely cause: /gm)).toHaveLength(2);
    expect(text).not.toContain('\n2. ');
  });

  it('shows a suspended server that is allowed to be off as no problem', () => {
    const held = 'suspended; not a problem with expect: any';
    const server = { ...serverReport('lobby'), held };
    const text = renderReport(doctorReport(panelReport([server])), plain);
    expect(text).toContain(`\n  lobby  -        ${held}\n`);
    expect(text).toContain('No problems');
  });

  it('fits 80 columns, whatever the names and messages', () => {
    const words = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 120 }),
      fc.constantFrom('服务器'.repeat(40), '🎮'.repeat(60), 'x'.repeat(199), 'a b '.repeat(60)),
    );
    const cause = fc.constantFrom(...(Object.keys(CAUSES) as CauseCode[]));
    const server = fc.record({ name: words, at: fc.constantFrom(...SERVER_STEPS), cause, detail: words });
    fc.assert(
      fc.property(
        words,
        words,
        fc.array(server, { maxLength: 30 }),
        fc.boolean(),
        (name, url, some, colors) => {
          const servers = some.map((one) => ({
            name: one.name,
            id: 'a',
            durationMs: 0,
            steps: SERVER_STEPS.map((step) =>
              step === one.at ? failed(step, one.cause, one.detail) : passed(step, one.detail),
            ),
          }));
          const report = doctorReport({ ...panelReport(servers, 'limit_unknown'), name, url });
          const text = stripVTControlCharacters(renderReport(report, painter(colors)));
          for (const line of text.split('\n')) expect(stringWidth(line), line).toBeLessThanOrEqual(80);
        },
      ),
    );
  });

  it('shows that it was stopped', () => {
    const report = { ...ALL_WELL, stopped: true };
    expect(renderReport(report, plain)).toContain('Incomplete: interrupted');
  });

  it('has colors only if they are enabled', () => {
    const colored = renderReport(TROUBLED, painter(true));
    expect(colored).toContain('\u001b[31mfailed\u001b[39m');
    expect(stripVTControlCharacters(colored)).toBe(renderReport(TROUBLED, plain));
  });
});

describe('colors', () => {
  it.each([
    [{ isTTY: true }, {}, true],
    [{ isTTY: true }, { NO_COLOR: '' }, true],
    [{ isTTY: true }, { NO_COLOR: '1' }, false],
    [{ isTTY: true }, { TERM: 'dumb' }, false],
    [{ isTTY: false }, {}, false],
    [{}, { TERM: 'xterm' }, false],
  ])('on %j with %j: %j', (stream, env, wanted) => {
    expect(wantsColors(stream, env)).toBe(wanted);
  });
});

describe('problems', () => {
  it('are grouped by cause across steps and servers, but not across panels', () => {
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

describe('servers with the same cause', () => {
  const failing = (details: readonly string[], name = (index: number) => `s${index}`) => {
    const servers = details.map((detail, index) => ({
      name: name(index),
      id: `id-${index}`,
      steps: [failed('auth', 'token_refused', detail)],
      durationMs: 0,
    }));
    return problemsOf(doctorReport(panelReport(servers)));
  };

  it("are one problem if their messages differ only in addresses, ids, numbers and the server's name", () => {
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

  it('are several problems if their messages differ', () => {
    const problems = failing([
      'said: "no way"',
      'said: "no luck"',
      'said: "No way."',
      'returned 403',
      'returned 500',
    ]);
    expect(problems.map(({ servers }) => servers)).toEqual([['s0', 's2'], ['s1'], ['s3'], ['s4']]);
  });

  it('are grouped into at most ten problems, however many messages there are', () => {
    const words = Array.from({ length: 100 }, (_, index) => 'x'.repeat(index + 1));
    const problems = failing(words);
    expect(problems.length).toBe(10);
    expect(problems.flatMap(({ servers }) => servers).length).toBe(100);
  });

  it('are one problem each if it occurs at several steps with different messages', () => {
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
              cause: 'limit_unknown',
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

  it('has the same fields if the configuration is invalid', () => {
    const issue = { file: 'config.yaml', line: 1, column: 9, path: 'panels', message: 'expected a panel' };
    const document = issuesDocument([issue]);
    expect(Object.keys(document)).toEqual(Object.keys(reportDocument(ALL_WELL)));
    expect(document).toMatchObject({ ok: false, configuration_issues: [issue] });
  });
});
