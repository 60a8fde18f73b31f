import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import stringWidth from 'fast-string-width';
import { describe, expect, it } from 'vitest';
import { VERSION } from '../../../src/build-info.ts';
import { CAUSES } from '../../../src/diagnosis/causes.ts';
import { Printout, wantsColors } from '../../../src/doctor/paint.ts';
import { adviceIn, renderReport } from '../../../src/doctor/render.ts';
import type { CauseCode } from '../../../src/domain/problems.ts';
import { ALL_WELL, doctorReport, panelReport, problem, serverReport, TROUBLED } from './reports.ts';

const plain = new Printout(false);
/** The report as text, without the version and the line breaks of the summary. */
const shown = (report: Parameters<typeof renderReport>[0]) =>
  renderReport(report, plain).replace(/,\sversion\s\S+\)/, ')');

describe('the readable report', () => {
  it('shows every panel with its servers and a summary if there are no problems', () => {
    expect(shown(ALL_WELL)).toBe(`\
panel main: https://panel.example.com
  API      ok       responds and accepts the API key
  limit    ok       240 calls per minute, of which the exporter uses at most
                    192; 1.6 needed
  servers  ok       2 of 2 without problems

  survival  ok       streaming, running, 12 players
  creative  ok       streaming, running

No problems: 1 panel, 2 servers (7 calls in 3 s).
`);
    expect(renderReport(ALL_WELL, plain)).toContain(VERSION);
  });

  it('says of a rejected key that the web server may have removed it, and how to tell the two apart', () => {
    const text = renderReport(doctorReport(panelReport({ problems: [problem('key_refused')] })), plain);
    const words = text.replaceAll(/\s+/g, ' ');
    expect(words).toContain('The key is wrong or was deleted, or a web server');
    expect(words).toContain('removes the header `Authorization`');
    expect(words).toContain(
      "curl -si -H 'Accept: application/json' -H 'Authorization: Bearer KEY' http://127.0.0.1:8099/api/client",
    );
    expect(words).toContain('If this returns 200, the key is right');
  });

  it('begins with the problems, failures first: what to do, where, and what was seen', () => {
    const text = shown(TROUBLED);
    expect(text).toMatch(
      /^1\. Set `origin` to `APP_URL` from the panel's \.env, without a trailing slash\.\n {3}The node/,
    );
    expect(text).toContain(`
   Where:         panel main, node fra-1, server creative: Origin rejected by
                  the node
   Details:       it was seen
   Likely cause:  The Origin header doesn't match the panel's address as the
                  node knows it.

2. Set \`requests_per_minute\` if the panel allows more than 60 calls per minute.
   Where:         panel main: rate limit unknown
   Details:       it was seen
`);
    expect(text).toContain(`\n  creative  failed   ${CAUSES.origin.title}\n`);
    expect(text).toMatch(/Problems found: 1 problem, 1 of 2 servers affected \(7 calls in 3 s\)\.\n$/);
  });

  it('names only the first of many servers, and shows at most a hundred', () => {
    const names = Array.from({ length: 2_000 }, (_, index) => `s${index}`);
    const report = doctorReport(
      panelReport({
        servers: names.map((name) => serverReport(name, 'origin')),
        problems: [problem('origin', { nodes: ['fra-1', 'fra-2'], servers: names })],
      }),
    );
    const text = shown(report);
    expect(text.replaceAll(/\n {18}/g, ' ')).toContain(
      `\n   Where:         panel main, nodes fra-1, fra-2, servers s0, s1, s2, s3, s4 and 1995 more: ${CAUSES.origin.title}\n`,
    );
    expect(text).toContain('\n  1900 more with problems (not shown)\n');
    expect(text.match(/^ {2}s\d+ /gm)).toHaveLength(100);
  });

  it('omits healthy servers from a long table', () => {
    const healthy = Array.from({ length: 150 }, (_, index) => serverReport(`s${index}`));
    const text = shown(doctorReport(panelReport({ servers: [...healthy, serverReport('odd', 'closed')] })));
    expect(text).toContain('\n  odd  failed   socket closed\n');
    expect(text).not.toContain('  s149 ');
    expect(text).toContain('150 servers without problems (not shown)');
  });

  it('shows a panel that fails as a whole as one block, however many servers it has', () => {
    const servers = Array.from({ length: 150 }, (_, index) => ({
      ...serverReport(`s${index}`),
      result: 'untested' as const,
      condition: 'failing' as const,
    }));
    const report = doctorReport(panelReport({ up: false, servers, problems: [problem('dns')] }));
    expect(shown(report)).toBe(`\
1. ${CAUSES.dns.remedy}
   Where:         panel main: ${CAUSES.dns.title}
   Details:       it was seen
   Likely cause:  The host in \`url\` is misspelled, or this machine's DNS server
                  doesn't know it.

panel main: https://panel.example.com
  API      failed   ${CAUSES.dns.title}
  servers  -        0 of 150 without problems

  150 servers not tested: no data within 3 s

Problems found: 1 problem, 150 servers not tested (7 calls in 3 s).
`);
  });

  it('shows the same advice once for all its problems', () => {
    const problems = [
      problem('unauthorized', { servers: ['a'] }),
      problem('no_console_permission', { servers: ['b'] }),
    ];
    const other = panelReport({ name: 'second', problems: problems.slice(0, 1) });
    const text = shown(doctorReport(panelReport({ problems }), other));
    expect(text.match(/In the panel, open the server/g)).toHaveLength(1);
    expect(text.match(/^ {3}Where: /gm)).toHaveLength(3);
    expect(text.match(/^ {3}Likely cause: /gm)).toHaveLength(2);
    expect(text).not.toContain('\n2. ');
  });

  it('shows a suspended server that is allowed to be off as no problem', () => {
    const held = 'suspended; not a problem with expect: any';
    const server = { ...serverReport('lobby'), condition: 'blocked' as const, held };
    const text = shown(doctorReport(panelReport({ servers: [server] })));
    expect(text).toContain(`\n  lobby  ok       ${held}\n`);
    expect(text).toContain('No problems');
  });

  it('fits 80 columns, whatever the names and messages', () => {
    const words = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 120 }),
      fc.constantFrom('服务器'.repeat(40), '🎮'.repeat(60), 'x'.repeat(199), 'a b '.repeat(60)),
    );
    const cause = fc.constantFrom(...(Object.keys(CAUSES) as CauseCode[]));
    const server = fc.record({ name: words, cause, detail: words });
    fc.assert(
      fc.property(
        words,
        words,
        fc.array(server, { maxLength: 30 }),
        fc.boolean(),
        (name, url, some, colors) => {
          const servers = some.map((one) => serverReport(one.name, one.cause));
          const problems = some.map((one) =>
            problem(one.cause, { detail: one.detail, nodes: [one.detail], servers: [one.name] }),
          );
          const counted = [{ description: name, servers: 1 }];
          const selection = {
            listed: 1,
            monitored: 1,
            expect: counted,
            query: counted,
            not_queried: counted,
            queried_at: counted,
            unmatched: [url],
          };
          const report = doctorReport(panelReport({ name, url, servers, problems, selection }));
          const text = stripVTControlCharacters(renderReport(report, new Printout(colors)));
          for (const line of text.split('\n')) expect(stringWidth(line), line).toBeLessThanOrEqual(80);
        },
      ),
    );
  });

  it('has colors only if they are enabled', () => {
    const colored = renderReport(TROUBLED, new Printout(true));
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

describe('the advice on a cause', () => {
  it.each(Object.keys(CAUSES) as CauseCode[])(
    '%s: the first step fits the first line of the report',
    (cause) => {
      const { headline, rest } = adviceIn(CAUSES[cause].remedy);
      expect(`1. ${headline}`.length).toBeLessThanOrEqual(80);
      expect(headline).toMatch(/^[A-Z].*[^.]\.$/);
      if (rest !== '') expect(rest).toMatch(/^[A-Z].*\.$/s);
      const letters = (text: string) => text.toLowerCase().replaceAll(/[^a-z]/g, '');
      expect(letters(headline + rest)).toBe(letters(CAUSES[cause].remedy));
    },
  );
});
