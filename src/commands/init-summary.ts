// The summary that `init` prints once it has written a configuration.

import type { Printout } from '../doctor/paint.ts';
import { limitText } from '../doctor/render.ts';
import type { KeyAccount } from '../panel/responses.ts';
import { madePerMinute } from '../panel/scheduler/rate-limit.ts';
import { printable } from '../text/printable.ts';
import { listed } from '../text/sentences.ts';
import { invocation, shellWord } from './command-line.ts';
import type { Targets } from './init-targets.ts';
import type { KeyAccess } from './key-access.ts';

/** The summary, with the commands to run next. */
export function summary(
  page: Printout,
  url: string,
  { servers, account, limitPerMinute: known }: KeyAccess,
  targets: Pick<Targets, 'config' | 'written'>,
): string {
  const accountText =
    account === undefined ? 'not reported by the panel' : printable(account.username) + adviceOn(account);
  const names = servers.map(({ name }) => name);
  const serverText =
    names.length === 0
      ? 'none yet: add the account to servers as a subuser, and they are discovered automatically'
      : `${names.length}: ${listed(names, 5)}`;
  const [run, file] = [invocation(), shellWord(targets.config)];
  return `${page.wrapped(`The panel at ${url} accepts the key.`)}

${page.wrapped(accountText, '  account  ')}
${page.wrapped(serverText, '  servers  ')}
${page.wrapped(limitText(known, madePerMinute(known), false), '  limit    ')}

${page.wrapped(`Wrote ${targets.written.join(' and ')} (readable only by you)`)}

Next:
  ${run} check --config ${file}
  ${run} doctor --config ${file}
  ${run} serve --config ${file}
`;
}

/** Advice for an administrator about the key. */
function adviceOn({ isAdmin, isKeyUnlimited }: KeyAccount): string {
  if (!isAdmin) return '';
  return `, an administrator${isKeyUnlimited ? ': the key can change everything, so prefer a read-only account' : ''}`;
}
