import { describe, expect, it } from 'vitest';
import { inTermsOfInit, schemeWords } from '../../../src/commands/init-advice.ts';
import type { AnswerFlags } from '../../../src/commands/init-answers.ts';
import { CAUSES } from '../../../src/diagnosis/causes.ts';
import { CAUSES_BY_SCOPE, type CauseCode } from '../../../src/domain/problem.ts';
import { doctorReport, panelReport, problem } from '../doctor/reports.ts';

function remedyFor(cause: CauseCode, flags: AnswerFlags = { url: 'https://panel.example.com' }): string {
  const report = doctorReport(panelReport({ problems: [problem(cause)] }));
  return inTermsOfInit(report, flags).panels[0]?.problems[0]?.remedy ?? '';
}

describe('the advice of init', () => {
  it.each([...CAUSES_BY_SCOPE.panel, ...CAUSES_BY_SCOPE.key])(
    'mentions no setting that has a flag: %s',
    (cause) => {
      const remedy = remedyFor(cause);
      expect(remedy).not.toMatch(/(?<!--)\burl\b|api_key|allow_insecure|proxy_url/);
      if (!/\burl\b|api_key|allow_insecure|proxy_url|tls_config|discover;?/.test(CAUSES[cause].remedy)) {
        expect(remedy).toBe(CAUSES[cause].remedy);
      }
    },
  );

  it.each<readonly [CauseCode, string]>([
    [
      'key_refused',
      'Create a client API key in the panel (account → API credentials). Enter it in init, or set its file with --key-file.',
    ],
    [
      'tls_plain_port',
      'Correct the port in --url. If the panel has no TLS at all, use http:// and add --allow-insecure (not needed for 127.0.0.1 and localhost).',
    ],
    ['https_needed', 'Use https:// in --url.'],
    [
      'tls_client_certificate',
      'Set tls_config.cert_file and key_file to a certificate that it accepts. There is no flag for this: copy config.example.yaml, and edit the copy.',
    ],
  ])('on %s mentions flags', (cause, remedy) => {
    expect(remedyFor(cause)).toBe(remedy);
  });

  it.each<readonly [CauseCode, string]>([
    ['dns', 'Correct the URL, or fix DNS on this machine.'],
    ['https_needed', 'Use https:// in the URL.'],
  ])('on %s mentions no flag for a URL that was typed', (cause, remedy) => {
    expect(remedyFor(cause, {})).toBe(remedy);
  });
});

describe('an address without a scheme', () => {
  const url = 'https://127.0.0.1:20318';

  it('is reported as tested with https if the panel is not reached', () => {
    const report = doctorReport(panelReport({ url, up: false, problems: [problem('tls_plain_port')] }));
    expect(schemeWords(report)).toBe(
      'The URL has no scheme, so https was tested. For http, enter http://127.0.0.1:20318.\n',
    );
  });

  it('is no news if the panel is reached', () => {
    const report = doctorReport(panelReport({ url, up: false, problems: [problem('key_refused')] }));
    expect(schemeWords(report)).toBeUndefined();
  });
});
