import { describe, expect, it } from 'vitest';
import { HYDRODACTYL } from '../../../../src/panel/dialects/hydrodactyl.ts';

const { requests, refusals } = HYDRODACTYL;

describe("Hydrodactyl's paths", () => {
  it.each([
    [
      requests.websocket({ id: '1a7ce997', daemon: 'elytra' }),
      '/api/client/servers/elytra/1a7ce997/websocket',
    ],
    [requests.websocket({ id: '1a7ce997' }), '/api/client/servers/1a7ce997/websocket'],
    [requests.resources({ id: '1a7ce997', daemon: 'wings' }), '/api/client/servers/1a7ce997/resources'],
    [requests.schedules({ id: '1a7ce997', daemon: 'wings' }), '/api/client/servers/wings/1a7ce997/schedules'],
  ])('name the daemon where its routes do', ({ path }, expected) => {
    expect(path).toBe(expected);
  });
});

it.each([
  ['The route api/client/servers/1a7ce997/websocket could not be found.', 'daemon_unknown'],
  ["This endpoint requires daemon type 'wings', but server is using 'elytra'.", 'daemon_unknown'],
  ['The requested resource could not be found on the server.', 'not_found'],
])('a refusal that says "%s" is %s', (detail, cause) => {
  const refusal = { form: 'envelope', endpoint: 'websocket', status: 404, isApplicationKey: false } as const;
  expect(refusals.cause({ ...refusal, detail })).toBe(cause);
});
