import { hasPrefix } from '../../domain/api-keys.ts';
import type { PanelDialect } from '../dialect.ts';
import { PTERODACTYL } from './pterodactyl.ts';

/** Calagopus has another API, which isn't supported: whatever it responds is reported as that. */
const CALAGOPUS: PanelDialect = {
  ...PTERODACTYL,
  apiKeys: { ...PTERODACTYL.apiKeys, isOwn: (key) => hasPrefix(key, 'calagopus') },
  decodeErrorBody: (...answer) => ({ ...PTERODACTYL.decodeErrorBody(...answer), isUnsupported: true }),
};

const DIALECTS: readonly PanelDialect[] = [PTERODACTYL, CALAGOPUS];

/** The dialect of the panel that issued this API key. */
export function dialectOf(apiKey: string): PanelDialect {
  return DIALECTS.find(({ apiKeys }) => apiKeys.isOwn(apiKey)) ?? PTERODACTYL;
}
