import { describe, expect, it } from 'vitest';
import { usageWhenOff } from '../../../src/simulator/game-server.ts';
import {
  json,
  pageDocument,
  refusal,
  refusalAnswer,
  resourcesDocument,
  textsRefusal,
} from '../../../src/simulator/simulated-responses.ts';

describe('a refusal', () => {
  it.each([
    [
      refusal(404),
      { code: 'NotFoundHttpException', detail: 'The requested resource could not be found on the server.' },
    ],
    [refusal(404, 'gone', 'X'), { code: 'X', detail: 'gone' }],
    [refusal(405), { code: 'MethodNotAllowedHttpException', detail: 'Method Not Allowed.' }],
    [refusal(418), { code: 'HttpException', detail: 'Error.' }],
  ])('%j has the words of the panel', (refused, expected) => {
    expect(refused).toMatchObject(expected);
  });

  it.each([
    ['errors', 'application/json', '{"errors":[{"code":"X","status":"409","detail":"gone"}]}'],
    ['texts', 'application/json', '{"errors":["gone"]}'],
    ['message', 'application/json', '{"error":"Conflict","message":"gone"}'],
  ] as const)('may have the form %s', (shape, type, body) => {
    expect(refusalAnswer(refusal(409, 'gone', 'X'), shape)).toEqual({
      status: 409,
      headers: { 'content-type': type },
      body,
    });
  });

  it('may be the page of a proxy', () => {
    const { headers, body } = refusalAnswer(refusal(502), 'html');
    expect(headers).toEqual({ 'content-type': 'text/html' });
    expect(body).toContain('<title>502 Bad Gateway</title>');
  });

  it('of Calagopus is a text', () => {
    expect(textsRefusal(403, 'no')).toEqual(json(403, { errors: ['no'] }));
  });
});

describe('a page of a list', () => {
  const page = (items: readonly number[], number: number) =>
    pageDocument(items, number, 2, (item) => ({ item }), { more: 1 }) as {
      readonly data: readonly { readonly item: number }[];
      readonly meta: { readonly pagination: object; readonly more: number };
    };

  it.each<[readonly number[], number, readonly number[], object]>([
    [[1, 2, 3], 1, [1, 2], { total: 3, count: 2, per_page: 2, current_page: 1, total_pages: 2 }],
    [[1, 2, 3], 2, [3], { total: 3, count: 1, current_page: 2, total_pages: 2 }],
    [[1, 2, 3], 3, [], { count: 0, current_page: 3, total_pages: 2 }],
    [[], 1, [], { total: 0, count: 0, total_pages: 1 }],
  ])('of %j: page %d', (items, number, shown, pagination) => {
    const { data, meta } = page(items, number);
    expect(data.map(({ item }) => item)).toEqual(shown);
    expect(meta).toMatchObject({ pagination, more: 1 });
  });
});

it('resources have the state and the usage', () => {
  const usage = { ...usageWhenOff({ memoryLimitBytes: 1, diskBytes: 2 }), uptimeMs: 3 };
  expect(resourcesDocument('running', usage, true)).toMatchObject({
    attributes: { current_state: 'running', is_suspended: true, resources: { disk_bytes: 2, uptime: 3 } },
  });
});
