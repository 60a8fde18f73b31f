import { beforeEach, describe, expect, it, vi } from 'vitest';
import { controlApi } from '../../../src/simulator/control-api.ts';
import type { Simulator } from '../../../src/simulator/simulator-interface.ts';

const power = vi.fn<Simulator['power']>();
const setConflict = vi.fn<Simulator['setConflict']>();
const startListening = vi.fn<Simulator['startListening']>();
const stopListening = vi.fn<Simulator['stopListening']>();
const clear = vi.fn<() => void>();

const app = controlApi({
  servers: [{ name: 'survival' }],
  record: { snapshot: () => ({ sockets: 1 }), clear },
  power,
  setConflict,
  startListening,
  stopListening,
  sockets: () => 7,
  move: () => {
    throw new Error('no server "nobody"');
  },
} as unknown as Simulator);

beforeEach(() => void vi.clearAllMocks());

async function post(path: string, body?: unknown) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await app.request(`/control/${path}`, { method: 'POST', body: text ?? '' });
  return [response.status, (await response.json()) as Readonly<Record<string, unknown>>] as const;
}

describe('an operation', () => {
  it('gets the server of its path and the fields of its body', async () => {
    expect(await post('servers/survival/power', { action: 'stop' })).toEqual([200, { ok: true }]);
    expect(power).toHaveBeenCalledWith('survival', 'stop');
  });

  it('responds with its result', async () => {
    expect(await post('sockets', { kind: 'drop' })).toEqual([200, { sockets: 7 }]);
  });

  it('may need no body', async () => {
    expect(await post('record/clear')).toEqual([200, { ok: true }]);
    expect(clear).toHaveBeenCalledOnce();
  });

  it('takes null for nothing', async () => {
    await post('servers/survival/conflict', { conflict: null });
    expect(setConflict).toHaveBeenCalledWith('survival', undefined);
  });

  it.each([
    [true, 1, 0],
    [false, 0, 1],
  ])('listening: %s', async (listening, starts, stops) => {
    await post('listening', { listening });
    expect([startListening.mock.calls.length, stopListening.mock.calls.length]).toEqual([starts, stops]);
  });

  it.each<[string, string, unknown, string]>([
    ['a body that is not JSON', 'settings', '{', 'the body is not JSON: "{"'],
    ['a body that is no object', 'settings', '[]', 'the body is not a JSON object: "[]"'],
    ['an unknown field', 'servers/a/power', { action: 'stop', at: 1 }, 'Unrecognized key: "at"'],
    ['an invalid value', 'servers/a/power', { action: 'explode' }, 'action'],
    ['an unknown server', 'servers/nobody/move', {}, 'no server "nobody"'],
  ])('is rejected for %s', async (_what, path, body, message) => {
    const [status, response] = await post(path, body);
    expect([status, response['error']]).toEqual([400, 'bad request']);
    expect(response['message']).toContain(message);
    expect(power).not.toHaveBeenCalled();
  });
});

it('an unknown path is answered with the operations, each of which has a schema', async () => {
  const [status, { operations }] = await post('nonsense');
  expect([status, operations]).toEqual([404, expect.arrayContaining(['/control/servers/:server/power'])]);
  const schemas = (await (await app.request('/control/schema')).json()) as object;
  expect(Object.keys(schemas).map((path) => `/control/${path}`)).toEqual(operations);
});

it.each([
  ['record', { sockets: 1 }],
  ['servers', [{ name: 'survival' }]],
])('%s can be read', async (path, body) => {
  expect(await (await app.request(`/control/${path}`)).json()).toEqual(body);
});
