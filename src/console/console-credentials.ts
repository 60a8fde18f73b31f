/**
 * Credentials for one server's console, even if the configuration doesn't name the server's daemon.
 */
import type { ServerTarget } from '../domain/server.ts';
import { DAEMONS } from '../panel/dialects/facts.ts';
import type { PanelApi } from '../panel/panel-api.ts';
import { PanelError } from '../panel/panel-error.ts';
import type { ServerAddress } from '../panel/requests.ts';
import type { Credentials } from '../panel/responses.ts';

/**
 * Requests a server's credentials. If the panel requires a daemon in the path, it tries the others
 * as well.
 */
export function credentialsFrom(api: Pick<PanelApi, 'get'>) {
  let accepted: ServerTarget['daemon'];
  const request = async (id: string, daemon: ServerTarget['daemon'], signal: AbortSignal) => {
    const { value } = await api.get('websocket', { id, daemon }, signal);
    accepted = daemon;
    return value;
  };
  return async ({ id, daemon }: ServerAddress, _ask: unknown, signal: AbortSignal): Promise<Credentials> => {
    const first = accepted ?? daemon;
    const refusal = await request(id, first, signal).catch((error: unknown) => {
      if (error instanceof PanelError && error.problem.cause === 'daemon_unknown') return error;
      throw error;
    });
    if (!(refusal instanceof PanelError)) return refusal;
    // The console command doesn't read the server list, which would name the daemon.
    for (const other of DAEMONS.filter((one) => one !== first)) {
      const credentials = await request(id, other, signal).catch(() => undefined);
      if (credentials !== undefined) return credentials;
    }
    throw refusal;
  };
}
