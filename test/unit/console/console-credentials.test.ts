import { describe, expect, it } from 'vitest';
import { credentialsFrom } from '../../../src/console/console-credentials.ts';
import type { CauseCode } from '../../../src/domain/problems.ts';
import type { ServerTarget } from '../../../src/domain/server.ts';
import type { PanelApi } from '../../../src/panel/panel-api.ts';
import { PanelError } from '../../../src/panel/panel-error.ts';

type Daemon = ServerTarget['daemon'];

const { signal } = new AbortController();
const CREDENTIALS = { token: 't', socketUrl: 'wss://node/ws', lifetimeMs: 1 };

/** A panel whose consoles work only with this daemon, and the requests that it received. */
function panelWith(daemon: Daemon, cause: CauseCode = 'daemon_unknown') {
  const asked: Daemon[] = [];
  const get = (_endpoint: string, what: { readonly daemon?: Daemon }) => {
    asked.push(what.daemon);
    if (what.daemon === daemon) return Promise.resolve({ value: CREDENTIALS });
    return Promise.reject(new PanelError({ cause, detail: String(what.daemon) }));
  };
  return { asked, request: credentialsFrom({ get } as unknown as Pick<PanelApi, 'get'>) };
}

describe('the credentials of a console', () => {
  it.each<[place: Daemon, configured: Daemon, asked: Daemon[]]>([
    [undefined, undefined, [undefined]],
    ['wings', 'wings', ['wings']],
    ['wings', undefined, [undefined, 'wings']],
    ['elytra', undefined, [undefined, 'wings', 'elytra']],
    ['elytra', 'wings', ['wings', 'elytra']],
  ])(
    'below %s, with %s configured, take the requests %j, and later ones one each',
    async (place, daemon, asked) => {
      const panel = panelWith(place);
      await expect(panel.request({ id: '1a7ce997', daemon }, undefined, signal)).resolves.toBe(CREDENTIALS);
      expect(panel.asked).toEqual(asked);
      await panel.request({ id: '1a7ce997', daemon }, undefined, signal);
      expect(panel.asked).toEqual([...asked, place]);
    },
  );

  it('are refused with the first refusal if no daemon is accepted', async () => {
    const panel = panelWith(undefined);
    const refused = panel.request({ id: '1a7ce997', daemon: 'wings' }, undefined, signal);
    await expect(refused).rejects.toMatchObject({ message: 'wings' });
  });

  it('are requested once if the refusal is about something else', async () => {
    const panel = panelWith('wings', 'not_found');
    await expect(panel.request({ id: '1a7ce997' }, undefined, signal)).rejects.toThrow('undefined');
    expect(panel.asked).toEqual([undefined]);
  });
});
