import { describe, expect, it, vi } from 'vitest';
import type { Dialect } from '../../../src/panel/dialect.ts';
import { CALAGOPUS } from '../../../src/panel/dialects/calagopus.ts';
import type { DialectName } from '../../../src/panel/dialects/facts.ts';
import { HYDRODACTYL } from '../../../src/panel/dialects/hydrodactyl.ts';
import { PTERODACTYL } from '../../../src/panel/dialects/pterodactyl.ts';
import { SpokenDialect } from '../../../src/panel/spoken-dialect.ts';

const spokenWith = (key: string, kind?: DialectName) => new SpokenDialect({ kind, apiKey: () => key });

const envelope = (detail: string) => ({ errors: [{ code: 'NotFoundHttpException', status: '404', detail }] });
const LISTED = { object: 'list', data: [{ attributes: { uuid: '1' } }] };
const LISTED_WITH_DAEMON = { object: 'list', data: [{ attributes: { uuid: '1', daemon_type: 'elytra' } }] };
const NO_ROUTE = envelope('The route api/client/servers/1a7ce997/websocket could not be found.');

describe('the dialect of a panel', () => {
  it.each([
    ['ptlc_0', PTERODACTYL],
    ['pacc_0', PTERODACTYL],
    ['0123456789abcdef0123456789abcdef', PTERODACTYL],
    ['hydro_0', HYDRODACTYL],
    ['pyro_0', HYDRODACTYL],
    ['c7sp_0', CALAGOPUS],
  ])('follows from the key %s', (key, dialect) => {
    expect(spokenWith(key).current).toBe(dialect);
  });

  it.each<[string, string, number, unknown, Dialect | undefined]>([
    ['a list without daemons', 'ptlc_0', 200, LISTED, undefined],
    ['a list with daemons', 'ptlc_0', 200, LISTED_WITH_DAEMON, HYDRODACTYL],
    ['a path that is unknown', 'ptlc_0', 404, NO_ROUTE, HYDRODACTYL],
    ['a refusal in texts', 'ptlc_0', 401, { errors: ['invalid authorization header'] }, CALAGOPUS],
    ['an account', 'ptlc_0', 200, { user: { username: 'a' } }, CALAGOPUS],
    [
      "Pterodactyl's refusal of another panel's key",
      'c7sp_0',
      401,
      envelope('Unauthenticated.'),
      PTERODACTYL,
    ],
    ["Pterodactyl's refusal, which Hydrodactyl's are too", 'hydro_0', 401, envelope('No.'), undefined],
    ['a page', 'ptlc_0', 502, undefined, undefined],
    ['an API gateway', 'ptlc_0', 404, { message: 'no Route matched' }, undefined],
    ['errors of another API', 'ptlc_0', 403, { success: false, errors: ['x'] }, undefined],
  ])('is shown by %s', (_what, key, status, body, dialect) => {
    const spoken = spokenWith(key);
    const heard = vi.fn<(dialect: Dialect) => void>();
    spoken.events.on('recognized', heard);
    expect(spoken.hears({ status, body })).toBe(dialect);
    expect(heard).toHaveBeenCalledTimes(dialect === undefined ? 0 : 1);
    if (dialect !== undefined) expect(spoken.current).toBe(dialect);
  });

  it('is certain once a response has shown it, until the key changes', () => {
    let key = 'ptlc_0';
    const spoken = new SpokenDialect({ apiKey: () => key });
    spoken.hears({ status: 200, body: LISTED_WITH_DAEMON });
    expect(spoken.hears({ status: 401, body: { errors: ['no'] } })).toBeUndefined();
    expect(spoken.codec).toBe(HYDRODACTYL.socket);
    key = 'ptlc_1';
    expect(spoken.current).toBe(PTERODACTYL);
  });

  it('is the configured one, whatever key and responses look like', () => {
    const spoken = spokenWith('ptlc_0', 'calagopus');
    expect(spoken.current).toBe(CALAGOPUS);
    expect(spoken.hears({ status: 200, body: LISTED })).toBeUndefined();
  });
});
