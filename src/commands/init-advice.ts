import { CAUSES } from '../diagnosis/causes.ts';
import type { DoctorReport, FoundProblem } from '../doctor/report.ts';
import type { AnswerFlags } from './init-answers.ts';

/**
 * The report with remedies that refer to the flags of `init` and to a URL that was typed, because there is no configuration file
 * to change yet.
 */
export function inTermsOfInit(report: DoctorReport, flags: AnswerFlags): DoctorReport {
  const adapted = (problem: FoundProblem): FoundProblem => ({
    ...problem,
    remedy: remedyInTermsOfInit(problem.remedy, flags),
  });
  return {
    ...report,
    panels: report.panels.map((panel) => ({ ...panel, problems: panel.problems.map(adapted) })),
  };
}

/** The settings in remedies, and the flags of `init` that set them. */
const FLAGS: readonly (readonly [setting: RegExp, flag: string])[] = [
  [/\bPut it into api_key or api_key_file\b/, 'Enter it in init, or set its file with --key-file'],
  [/\bset allow_insecure: true/, 'add --allow-insecure (not needed for 127.0.0.1 and localhost)'],
  [/\bproxy_url (?:\(or HTTPS_PROXY\)|or HTTPS_PROXY)/, 'HTTPS_PROXY'],
];

/** Settings without a flag. */
const WITHOUT_FLAG = /\b(?:tls_config|instead of using discover)\b/;

function remedyInTermsOfInit(remedy: string, { url }: AnswerFlags): string {
  const text = FLAGS.reduce((before, [setting, flag]) => before.replace(setting, flag), remedy).replace(
    /`url`(?: in the configuration)?/g,
    url === undefined ? 'the URL' : '--url',
  );
  return WITHOUT_FLAG.test(text)
    ? `${text} There is no flag for this: copy config.example.yaml, and edit the copy.`
    : text;
}

/** Whether a panel responded at the URL. */
export function isReached({ panels }: DoctorReport): boolean {
  return panels.every(
    ({ up, problems }) => up || problems.some(({ cause }) => CAUSES[cause].scope === 'key'),
  );
}

/** What was assumed about an address without a scheme, and how to use http instead; undefined if the panel was reached. */
export function schemeWords(report: DoctorReport): string | undefined {
  const [panel] = report.panels;
  if (panel === undefined || isReached(report)) return undefined;
  const { url } = panel;
  return `The URL has no scheme, so https was tested. For http, enter ${url.replace(/^https:/, 'http:')}.\n`;
}
