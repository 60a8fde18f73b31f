import type { CollectionMode } from '../domain/server.ts';
import type { Credentials, Resources } from '../panel/decode.ts';
import { PanelError } from '../panel/errors.ts';
import { answeredResult } from '../session/poll-result.ts';
import { type Attempt, failedCall } from './attempt.ts';
import type { Cause } from './causes.ts';
import type { Contact } from './panel-cause.ts';
import { type Finding, failed, passed, type ServerStep, skipped } from './report.ts';
import type { SocketResult } from './socket-result.ts';
import { socketFindings } from './socket-result.ts';

/** What was tried of one server; absent is what wasn't. */
export interface ServerAttempts {
  readonly mode: CollectionMode;
  readonly resources?: Attempt<Resources>;
  readonly credentials?: Attempt<Credentials>;
  readonly socket?: SocketResult;
}

type Refused = Extract<Attempt<unknown>, { ok: false }>;

/** Refusals that only a panel gives which knows the server. */
const KNOWN_BY: ReadonlySet<PanelError['kind']> = new Set(['forbidden', 'conflict', 'node_unreachable']);

/** Is it of no use to ask the panel for anything more of this server? */
export function endsServer(attempt: Attempt<unknown>): boolean {
  if (attempt.ok) return false;
  const { error } = attempt;
  if (!(error instanceof PanelError)) return true;
  return error.fromPanel && (error.kind === 'not_found' || error.kind === 'conflict');
}

/** What all that was tried of a server showed, in the order in which it is shown. */
export function serverFindings(tried: ServerAttempts, contact: Contact): readonly Finding<ServerStep>[] {
  const found = foundFinding(tried, contact);
  if (found.result === 'failed') {
    const why = `not tried: ${found.cause === 'not_found' ? 'there is no such server' : 'it was refused'}`;
    const rest = (['credentials', 'upgrade', 'auth', 'stats', 'resources'] as const).map((step) =>
      skipped(step, why),
    );
    return [found, ...rest];
  }
  const credentials = credentialsFinding(tried, contact);
  return [
    found,
    credentials,
    ...socketFindings(tried.socket, socketSkipped(tried.mode, credentials)),
    resourcesFinding(tried, contact),
  ];
}

/** Every step of a server of which nothing was tried. */
export function untriedServer(why: string): readonly Finding<ServerStep>[] {
  return (['found', 'credentials', 'upgrade', 'auth', 'stats', 'resources'] as const).map((step) =>
    skipped(step, why),
  );
}

function foundFinding({ resources, credentials }: ServerAttempts, contact: Contact): Finding<ServerStep> {
  const attempts = [resources, credentials].filter((one) => one !== undefined);
  const refusals = attempts.filter((one): one is Refused => !one.ok);
  const missing = refusals.find((one) => kindOf(one) === 'not_found');
  if (missing !== undefined) return failedCall('found', missing.error, contact);
  const known = refusals.some((one) => KNOWN_BY.has(kindOf(one) ?? 'network'));
  if (known || attempts.some(({ ok }) => ok)) return passed('found', 'the panel knows it');
  const refused = refusals.find((one) => kindOf(one) === 'unauthorized');
  if (refused !== undefined) return failedCall('found', refused.error, contact);
  return skipped('found', 'not told: no call was answered');
}

function kindOf({ error }: Refused): PanelError['kind'] | undefined {
  return error instanceof PanelError && error.fromPanel ? error.kind : undefined;
}

function credentialsFinding(
  { mode, resources, credentials }: ServerAttempts,
  contact: Contact,
): Finding<ServerStep> {
  if (mode === 'poll') return skipped('credentials', POLL_MODE);
  if (credentials === undefined) return skipped('credentials', `not tried: ${heldBy(resources)}`);
  if (credentials.ok) {
    const minutes = Math.round(credentials.value.lifetimeMs / 60_000);
    return passed('credentials', `a token for ${minutes} min`);
  }
  return failedCall('credentials', credentials.error, contact, credentialsCause(credentials));
}

// Asked of the endpoint for tokens, these have a meaning of their own.
function credentialsCause(attempt: Refused): Cause | undefined {
  const kind = kindOf(attempt);
  if (kind === 'forbidden' || kind === 'unauthorized') return 'no_console_permission';
  return kind === 'rate_limited' ? 'console_limit' : undefined;
}

const POLL_MODE = 'not tried: mode is poll';

function socketSkipped(mode: CollectionMode, credentials: Finding<ServerStep>): string {
  if (mode === 'poll') return POLL_MODE;
  return credentials.result === 'failed' ? 'not tried: there is no token' : credentials.detail;
}

function heldBy(resources: Attempt<Resources> | undefined): string {
  if (resources === undefined || resources.ok) return 'the panel said nothing';
  const { error } = resources;
  return error instanceof PanelError && error.blocked !== undefined
    ? `the panel says ${error.blocked}`
    : (error as Error).message;
}

function resourcesFinding({ mode, resources }: ServerAttempts, contact: Contact): Finding<ServerStep> {
  if (resources === undefined) return skipped('resources', `not tried: mode is ${mode}`);
  if (!resources.ok) return failedCall('resources', resources.error, contact);
  const { sample } = resources.value;
  const result = answeredResult(resources.value);
  if (result.type === 'refused') return failed('resources', result.reason, result.trouble);
  if (result.type === 'failed') return failed('resources', 'node_unreachable', result.trouble);
  return passed('resources', sample?.state ?? 'answered');
}
