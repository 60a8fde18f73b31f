import { type DoctorReport, type Finding, remedyOf } from '../doctor/report.ts';

/** The report with remedies that name the flags of `init`, because there is no configuration file to change yet. */
export function withFlags(report: DoctorReport): DoctorReport {
  return {
    ...report,
    panels: report.panels.map((panel) => ({ ...panel, steps: panel.steps.map(withFlag) })),
  };
}

function withFlag<Step extends string>(finding: Finding<Step>): Finding<Step> {
  const { cause } = finding;
  return cause === undefined
    ? finding
    : { ...finding, remedy: remedyInFlags(remedyOf({ ...finding, cause })) };
}

/** The settings in remedies, and the flags of `init` that set them. */
const FLAGS: readonly (readonly [setting: RegExp, flag: string])[] = [
  [/\bPut it into api_key or api_key_file\b/, 'Enter it in init, or name its file with --key-file'],
  [/\burl\b/g, '--url'],
  [/\bset allow_insecure: true/, 'add --allow-insecure (not needed for 127.0.0.1 and localhost)'],
  [/\bproxy_url (?:\(or HTTPS_PROXY\)|or HTTPS_PROXY)/, 'HTTPS_PROXY'],
];

/** Settings without a flag. */
const WITHOUT_FLAG = /\b(?:tls_config|instead of using discover)\b/;

function remedyInFlags(remedy: string): string {
  const text = FLAGS.reduce((before, [setting, flag]) => before.replace(setting, flag), remedy);
  return WITHOUT_FLAG.test(text)
    ? `${text} There is no flag for this: copy config.example.yaml, and edit the copy.`
    : text;
}

/** What was assumed about an address without a scheme, and how to use http instead; undefined if the panel was reached. */
export function schemeWords({ panels }: DoctorReport): string | undefined {
  const unreached = panels.find(({ steps }) =>
    steps.some(({ step, result }) => step === 'reach' && result === 'failed'),
  );
  if (unreached === undefined) return undefined;
  const { url } = unreached;
  return `The URL has no scheme, so https was tested. For http, enter ${url.replace(/^https:/, 'http:')}.\n`;
}
