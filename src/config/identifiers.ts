const SHORT_ID = '[0-9a-fA-F]{8}';
const UUID = `${SHORT_ID}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`;

/** A full UUID or the 8-character short identifier, which is how a UUID begins. */
export const SERVER_ID_PATTERN = `^(?:${UUID}|${SHORT_ID})$`;
export const LABEL_NAME_PATTERN = '^[a-zA-Z_][a-zA-Z0-9_]*$';

const SERVER_ID = new RegExp(SERVER_ID_PATTERN);
const FULL_UUID = new RegExp(`^${UUID}$`);
const LABEL_NAME = new RegExp(LABEL_NAME_PATTERN);
const NAME_MAX = 200;

/** Labels that the exporter sets itself, and those that Prometheus and the shipped rules set. */
export const TAKEN_LABELS: readonly string[] = [
  'panel',
  'server',
  'server_id',
  'state',
  'reason',
  'node',
  'egg',
  'uuid',
  'job',
  'instance',
  'pod',
  'le',
  'alertname',
  'alertstate',
  'severity',
];

export function isServerId(text: string): boolean {
  return SERVER_ID.test(text);
}

/** The UUID that a configured id is; undefined for a short identifier. */
export function uuidOf(id: string): string | undefined {
  return FULL_UUID.test(id) ? id.toLowerCase() : undefined;
}

/** What the long and the short id of one server have in common. */
export function sharedId(id: string): string {
  return id.slice(0, 8).toLowerCase();
}

/** Can the text name a panel or a server? Names end in labels and log lines. */
export function isName(text: string): boolean {
  return text.trim() !== '' && text.length <= NAME_MAX && !/\p{Cc}/u.test(text);
}

/** What is wrong with a label's name; undefined if nothing is. */
export function labelNameProblem(name: string): string | undefined {
  if (!LABEL_NAME.test(name))
    return 'expected a label name of letters, digits and _, not starting with a digit';
  if (name.startsWith('__')) return 'expected a label name without __ in front, which Prometheus reserves';
  if (TAKEN_LABELS.includes(name))
    return `expected another label name: ${name} is set by the exporter, by Prometheus or by its alerts`;
  return undefined;
}
