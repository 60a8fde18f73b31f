// The causes that concern a panel's API key or the key's account.

import type { CauseCodes } from '../domain/problems.ts';
import { CONSOLE_GRANT, permissionText } from '../panel/dialects/facts.ts';
import { CLIENT_KEY_ADVICE, prefixText } from '../text/api-keys.ts';
import { type Cause, causes, LASTING_ERROR } from './cause-table.ts';

export const KEY_CAUSES = {
  ...causes('key', LASTING_ERROR, {
    key_refused: [
      'API key rejected',
      'The key is wrong or was deleted, or a web server or proxy in front of the panel removes the header `Authorization`. The panel responds the same in both cases.',
      "Create a client API key in the panel (account → API credentials). Put it into `api_key` or `api_key_file`. If the panel rejects it, too, run `php artisan serve --port=8099` in the panel's folder, and on the same machine `curl -si -H 'Accept: application/json' -H 'Authorization: Bearer KEY' http://127.0.0.1:8099/api/client`. If this returns 200, the key is right, and the web server removes the header: with Apache, set `AllowOverride All` for the panel's folder `public`, or `CGIPassAuth On`.",
    ],
    key_address: [
      'API key not allowed from this address',
      "The key's list of allowed addresses doesn't include this machine's address.",
      "Create a key that allows the exporter's address. Some panels can edit keys (account → API credentials). If the panel's reverse proxy isn't listed in `TRUSTED_PROXIES` or `APP_TRUSTED_PROXIES` of its .env, the panel sees the proxy's address: add the proxy.",
    ],
    application_key: [
      'application API key',
      `The key is for the application API (${prefixText('application')}), which the client API rejects.`,
      CLIENT_KEY_ADVICE,
    ],
    key_two_factor: [
      'two-factor authentication required',
      "The panel requires two-factor authentication, but the key's account has not set it up.",
      "Set up two-factor authentication for the key's account. Alternatively, let the panel require it of administrators only, or of nobody (admin area → Settings): single accounts can't be exempted.",
    ],
    key_console_permission: [
      'no console permission on any server',
      `The key's account lacks the permission ${permissionText((facts) => facts.consolePermission)} on every server.`,
      `${CONSOLE_GRANT} Do so for each server. Until then, the servers are polled, and one of them is retried every five minutes.`,
    ],
  }),
} satisfies Readonly<Record<CauseCodes['key'], Cause>>;
