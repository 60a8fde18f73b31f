// The secrets that a running exporter got from its configuration and the environment.
import type { Config } from '../config/config.ts';
import { secretsIn } from '../config/config-text.ts';
import { proxySecrets } from '../panel/proxy.ts';

const PROXY_VARIABLE = /^(?:https?|all)_proxy$/i;

/**
 * All secrets to redact while this configuration is in use; `env` contains the environment
 * variables.
 */
export function secretsInUse(
  config: Config,
  env: Readonly<NodeJS.ProcessEnv> = process.env,
): readonly string[] {
  const configured = config.panels.map(({ proxyUrl = '' }) => proxyUrl);
  const fromEnvironment = Object.keys(env)
    .filter((name) => PROXY_VARIABLE.test(name))
    .map((name) => env[name] ?? '');
  return [...secretsIn(config), ...[...configured, ...fromEnvironment].flatMap(proxySecrets)];
}
