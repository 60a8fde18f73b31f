import { expect, it } from 'vitest';
import { secretsInUse } from '../../../src/app/secrets-in-use.ts';
import type { Config, PanelConfig } from '../../../src/config/config.ts';
import { Secret } from '../../../src/text/redaction.ts';

function configWith(proxyUrl?: string): Config {
  const panel = { name: 'main', apiKey: new Secret('ptlc_key_of_this_test'), proxyUrl } as PanelConfig;
  return { panels: [panel], log: { level: 'info', format: 'auto' } };
}

const base64 = (text: string) => Buffer.from(text).toString('base64');

it.each<
  [what: string, proxyUrl: string | undefined, env: NodeJS.ProcessEnv, proxySecrets: readonly string[]]
>([
  ['no proxy', undefined, { PATH: '/bin' }, []],
  ['a proxy without credentials', 'http://proxy:3128', {}, []],
  [
    'a password with escapes',
    'http://scraper:pass%2Eword-1@proxy:3128',
    {},
    ['pass.word-1', base64('scraper:pass.word-1')],
  ],
  ['only a user', 'http://a_token_as_user@proxy:3128', {}, ['a_token_as_user', base64('a_token_as_user:')]],
  ['the environment', undefined, { https_proxy: 'a:password-2@b:1' }, ['password-2', base64('a:password-2')]],
  ['something else in the environment', undefined, { ALL_PROXY: '::' }, []],
])(
  'the secrets in use are the keys, and the credentials of proxies: %s',
  (_what, proxyUrl, env, expected) => {
    expect(secretsInUse(configWith(proxyUrl), env)).toEqual(['ptlc_key_of_this_test', ...expected]);
  },
);
