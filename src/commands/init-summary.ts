// The summary that `init` prints once it has written a configuration.

import type { Printout } from '../doctor/paint.ts';
import { limitText } from '../doctor/render.ts';
import type { KeyAccount } from '../panel/responses.ts';
import { madePerMinute } from '../panel/scheduler/rate-limit.ts';
import { printable } from '../text/printable.ts';
import { listed } from '../text/sentences.ts';
import { invocation, shellWord } from './command-line.ts';
import type { OutputPaths } from './init-output-paths.ts';
import type { KeyAccess } from './key-access.ts';

/** The summary, with the commands to run next. */
export function initSummary(
  page: Printout,
  url: string,
  { servers, account, limitPerMinute: known }: KeyAccess,
  paths: Pick<OutputPaths, 'config' | 'written'>,
): string {
  const accountText =
    account === undefined ? 'not reported by the panel' : printable(account.username) + keyAdvice(account);
  const names = servers.map(({ name }) => name);
  const serverText =
    names.length === 0
      ? 'none yet: add the account to servers as a subuser, and they are discovered automatically'
      : `${names.length}: ${listed(names, 5)}`;
  const [run, file] = [invocation(), shellWord(paths.config)];
  return `${page.wrapped(`The panel at ${url} accepts the key.`)}

${page.wrapped(accountText, '  account  ')}
${page.wrapped(serverText, '  servers  ')}
${page.wrapped(limitText(known, madePerMinute(known), false), '  limit    ')}

${page.wrapped(`Wrote ${paths.written.join(' and ')} (readable only by you)`)}

Next:
  ${run} check --config ${file}
  ${run} doctor --config ${file}
  ${run} serve --config ${file}
`;
}

/** Advice for an administrator about the key. */
function keyAdvice({ isAdmin, isKeyUnlimited }: KeyAccount): string {
  if (!isAdmin) return '';
  return `, an administrator${isKeyUnlimited ? ': the key can change everything, so prefer a read-only account' : ''}`;
}
