import { describe, expect, it } from 'vitest';
import { decodeErrorBody } from '../../../../src/panel/dialects/pterodactyl/refusals.ts';
import { PTERODACTYL } from '../../../../src/panel/dialects/pterodactyl.ts';
import { hasPrefix } from '../../../../src/text/api-keys.ts';

const envelope = (detail: string) =>
  JSON.stringify({ errors: [{ code: 'HttpException', status: '4xx', detail }] });
const message = (text: string) => JSON.stringify({ error: 'Trouble', message: text });
const PAGE = '<!doctype html><html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>';

describe('decodeErrorBody', () => {
  it.each([
    [
      'the errors envelope',
      envelope('No access.'),
      { form: 'envelope', detail: 'No access.', code: 'HttpException' },
    ],
    [
      'an envelope without detail',
      '{"errors":[{"code":"AuthException"}]}',
      { form: 'envelope', detail: 'AuthException', code: 'AuthException' },
    ],
    ['an envelope without code', '{"errors":[{"detail":"No."}]}', { form: 'envelope', detail: 'No.' }],
    ['the flat object', message('Wait.'), { form: 'message', detail: 'Wait.' }],
    ['a page', PAGE, { form: 'foreign', detail: '502 Bad Gateway' }],
    ['a page without a title', '<html></html>', { form: 'foreign' }],
    [
      'a page whose title, which may contain a part of a secret, is cut off',
      `<html>${' '.repeat(4_060)}<title>Authorization: Bearer ptlc_0123456789</title>`,
      { form: 'foreign' },
    ],
    [
      'a page with text',
      '<html><style>p{}</style>\n<p>Try <b>later</b>.<p>Bye',
      { form: 'foreign', detail: 'Try later.' },
    ],
    [
      'a page whose text is cut off',
      `<html>${'<br>'.repeat(1_015)}<p>Authorization: Bearer ptlc_0123456789</p>`,
      { form: 'foreign' },
    ],
    ['several lines', '\nError: no\n  at x\n', { form: 'foreign', detail: 'Error: no' }],
    ['plain text', 'upstream timed out\n', { form: 'foreign', detail: 'upstream timed out' }],
    ['an empty body', '', { form: 'foreign' }],
    ['JSON of another type', '[1]', { form: 'foreign', detail: '[1]' }],
    ['an object of another type', '{"__proto__":{"message":"x"}}', { form: 'foreign' }],
    ['wrong types', '{"errors":[7],"message":1}', { form: 'foreign' }],
    [
      'escapes and line breaks',
      message('\u001b[31mred\u001b[0m\r\n\u0000line'),
      { form: 'message', detail: 'red line' },
    ],
  ])('%s', (_name, text, body) => {
    expect(decodeErrorBody(text, text.startsWith('<') ? 'text/html' : 'application/json')).toEqual(body);
  });

  it.each<[string, object, string | undefined]>([
    ['a bot check', { message: 'Access denied by Imunify360' }, 'Access denied by Imunify360'],
    ['a gateway', { message: 'no Route matched with those Values' }, 'no Route matched with those Values'],
    ['a proxy', { error: 'Gone' }, 'Gone'],
    ['nested words', { error: { code: 403, message: 'Forbidden' } }, 'Forbidden'],
    ['problem details', { title: 'Error 1020', status: 403, detail: 'Access denied' }, 'Access denied'],
    ['another list of errors', { success: false, errors: [{ code: 1020, message: 'No.' }] }, 'No.'],
    ['an empty list of errors', { errors: [], message: 'Denied' }, 'Denied'],
    ['no words', { errors: [], status: 403 }, undefined],
  ])("JSON of something else is foreign, with the other's words: %s", (_what, body, detail) => {
    const read = decodeErrorBody(JSON.stringify(body), 'application/json');
    expect(read).toEqual({ form: 'foreign', ...(detail !== undefined && { detail }) });
  });

  it.each<[string, string, object | undefined]>([
    ['DaemonConnectionException', 'There was an error. (code: 404) (request_id: 3a1ad8a2)', { status: 404 }],
    ['DaemonConnectionException', 'Could not establish a connection to the machine.', {}],
    ['ConnectionException', 'Connection refused [tcp://127.0.0.1:6379] (code: 404)', undefined],
    ['ServerException', 'OOM command not allowed', undefined],
    ['QueryException', 'SQLSTATE[HY000] [2002] Connection refused', undefined],
    ['DecryptException', 'The MAC is invalid.', undefined],
  ])("only a daemon's exception passes on a node's response: %s, %s", (code, detail, fromNode) => {
    const text = JSON.stringify({ errors: [{ code, status: '504', detail }] });
    expect(decodeErrorBody(text, 'application/json').fromNode).toEqual(fromNode);
  });

  it('keeps at most 200 characters', () => {
    expect(decodeErrorBody(message('x'.repeat(5_000)), 'application/json').detail).toHaveLength(200);
  });
});

describe('the paths', () => {
  it.each([
    [
      'credentials',
      PTERODACTYL.requests.websocket({ id: '1a7ce997' }),
      '/api/client/servers/1a7ce997/websocket',
    ],
    [
      'resources',
      PTERODACTYL.requests.resources({ id: '1a7ce997' }),
      '/api/client/servers/1a7ce997/resources',
    ],
    [
      'a page of the server list',
      PTERODACTYL.requests.listing({ page: 2, perPage: 100 }),
      '/api/client?page=2&per_page=100&include=egg',
    ],
    [
      'a page of one type of servers',
      PTERODACTYL.requests.listing({ page: 1, perPage: 50, type: 'owner' }),
      '/api/client?page=1&per_page=50&include=egg&type=owner',
    ],
    [
      'a page of backups',
      PTERODACTYL.requests.backups({ id: '1a7ce997', page: 3 }),
      '/api/client/servers/1a7ce997/backups?page=3&per_page=50',
    ],
    [
      'an id with path characters',
      PTERODACTYL.requests.resources({ id: '../..?x' }),
      '/api/client/servers/%2E%2E%2F%2E%2E%3Fx/resources',
    ],
  ])('%s', (_what, request, path) => {
    expect(request.path).toBe(path);
  });
});

it.each([
  ['ptla_key', true],
  ['papp_key', true],
  ['ptlc_key', false],
  ['pacc_key', false],
  ['a ptla_ in the middle', false],
])('the key %j is for the application API: %s', (key, expected) => {
  expect(hasPrefix(key, 'application')).toBe(expected);
});
