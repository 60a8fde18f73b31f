import { describe, expect, it } from 'vitest';
import { decodeErrorBody } from '../../../src/panel/error-body.ts';
import { lastingRefusal, PanelError, panelTrouble } from '../../../src/panel/errors.ts';
import { type Refusal, refusalError, transportError } from '../../../src/panel/failure.ts';

const KEY = 'ptlc_0123456789abcdef';
const envelope = (detail: string) =>
  JSON.stringify({ errors: [{ code: 'HttpException', status: '4xx', detail }] });
const message = (text: string) => JSON.stringify({ error: 'Trouble', message: text });
const PAGE = '<!doctype html><html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>';

function refuse(status: number, text: string, more: Partial<Refusal> = {}): PanelError {
  const contentType = text.startsWith('<') ? 'text/html' : 'application/json';
  return refusalError({
    request: 'GET /api/client/servers/ab/resources',
    status,
    contentType,
    rate: {},
    text,
    apiKey: KEY,
    nowUnixMs: 0,
    ...more,
  });
}

describe('decodeErrorBody', () => {
  it.each([
    ['the errors envelope', envelope('No access.'), { form: 'envelope', detail: 'No access.' }],
    [
      'an envelope without detail',
      '{"errors":[{"code":"AuthException"}]}',
      { form: 'envelope', detail: 'AuthException' },
    ],
    ['an empty envelope', '{"errors":[]}', { form: 'envelope' }],
    ['the flat object', message('Wait.'), { form: 'message', detail: 'Wait.' }],
    ['a flat object with error alone', '{"error":"Gone"}', { form: 'message', detail: 'Gone' }],
    ['a page', PAGE, { form: 'other', detail: '502 Bad Gateway' }],
    ['a page without title', '<html></html>', { form: 'other' }],
    ['plain text', 'upstream timed out\n', { form: 'other', detail: 'upstream timed out' }],
    ['nothing', '', { form: 'other' }],
    ['JSON of another kind', '[1]', { form: 'other', detail: '[1]' }],
    ['an object of another kind', '{"__proto__":{"message":"x"}}', { form: 'other' }],
    ['wrong types', '{"errors":[7],"message":1}', { form: 'envelope' }],
    [
      'escapes and line breaks',
      message('\u001b[31mred\u001b[0m\r\n\u0000line'),
      { form: 'message', detail: 'red line' },
    ],
  ])('%s', (_name, text, body) => {
    expect(decodeErrorBody(text, text.startsWith('<') ? 'text/html' : 'application/json')).toEqual(body);
  });

  it('keeps at most 200 characters', () => {
    expect(decodeErrorBody(message('x'.repeat(5_000)), 'application/json').detail).toHaveLength(200);
  });
});

describe('refusalError', () => {
  it.each([
    [400, envelope('x'), 'bad_request', undefined, undefined],
    [401, envelope('x'), 'unauthorized', 'unauthorized', 'refused'],
    [403, envelope('x'), 'forbidden', 'forbidden', undefined],
    [403, PAGE, 'forbidden', 'forbidden', undefined],
    [404, envelope('x'), 'not_found', 'not_found', undefined],
    [418, '', 'bad_request', undefined, undefined],
    [429, message('x'), 'rate_limited', undefined, undefined],
    [500, envelope('x'), 'server_error', undefined, undefined],
    [502, PAGE, 'panel_unavailable', undefined, 'unreachable'],
    [503, envelope('x'), 'panel_unavailable', undefined, 'unreachable'],
    [504, envelope('x'), 'node_unreachable', undefined, undefined],
    [504, PAGE, 'panel_unavailable', undefined, 'unreachable'],
    [504, message('x'), 'panel_unavailable', undefined, 'unreachable'],
    [522, PAGE, 'panel_unavailable', undefined, 'unreachable'],
    [302, '', 'redirect', undefined, undefined],
  ])('takes %i with %s for %s', (status, text, kind, blocked, trouble) => {
    const error = refuse(status, text);
    expect(error).toMatchObject({ kind, status });
    expect(lastingRefusal(error)).toBe(blocked);
    expect(panelTrouble(error)).toBe(trouble);
  });

  it.each([
    ['This server is currently suspended and the functionality requested is unavailable.', 'suspended'],
    ['This server has not yet completed its installation process, please try again later.', 'installing'],
    ['This server is currently restoring from a backup, please try again later.', 'restoring'],
    ['This server is currently being transferred to a new machine, please try again later.', 'transferring'],
    [
      'The node of this server is currently under maintenance and the functionality requested is unavailable.',
      'maintenance',
    ],
    ['The server is in an unsupported state.', 'maintenance'],
  ])('reads the conflict "%s" as %s', (detail, reason) => {
    expect(lastingRefusal(refuse(409, envelope(detail)))).toBe(reason);
  });

  it.each([
    [
      refuse(401, envelope('Unauthenticated.')),
      'answered 401: "Unauthenticated.": the API key is refused: check api_key or api_key_file',
    ],
    [
      refuse(403, envelope('No.'), { apiKey: 'ptla_abc' }),
      'the key is one of the application API: use a client API key',
    ],
    [refuse(403, envelope('No.')), "the key's account lacks the permission"],
    [refuse(403, PAGE), 'a proxy or firewall before it may be refusing'],
    [refuse(404, PAGE), "check the panel's url"],
    [
      refuse(301, '', { location: 'https://www.example.com/login?ticket=s3cret' }),
      'it redirects to https://www.example.com/login;',
    ],
    [refuse(302, ''), 'it redirects to no address'],
  ])('says what to do: %s', (error, words) => {
    expect(error.message).toContain(words);
    expect(error.message).toMatch(/^GET \/api\/client\/servers\/ab\/resources answered \d{3}[^\n]*$/);
  });

  it('repeats neither the key nor the query of a redirect', () => {
    const echo = refuse(401, envelope(`Bad key ${KEY}, ${KEY}`));
    const redirect = refuse(302, '', { location: '/login?ticket=s3cret' });
    expect(JSON.stringify([echo.message, echo.detail])).not.toContain(KEY);
    expect(redirect.message).not.toContain('s3cret');
  });

  it('carries what a 429 says of the limit', () => {
    const error = refuse(429, message('Retry after 7 seconds.'), { rate: { limit: '240' } });
    expect(error).toMatchObject({ retryAfterMs: 7_000, limitPerMinute: 240, fromPanel: true });
    expect(refuse(500, PAGE).retryAfterMs).toBeUndefined();
  });
});

describe('transportError', () => {
  const destination = { request: 'GET /api/client', host: 'panel.example.com', timeoutMs: 25_000 };
  const failure = (code: string, more: object = {}) =>
    Object.assign(new Error('it failed'), { code, ...more });

  it.each([
    ['ENOTFOUND', 'dns'],
    ['EAI_AGAIN', 'dns'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls'],
    ['CERT_HAS_EXPIRED', 'tls'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls'],
    ['UND_ERR_CONNECT_TIMEOUT', 'timeout'],
    ['UND_ERR_BODY_TIMEOUT', 'timeout'],
    ['ECONNREFUSED', 'network'],
    ['ECONNRESET', 'network'],
    ['UND_ERR_SOCKET', 'network'],
    ['UND_ERR_RES_EXCEEDED_MAX_SIZE', 'bad_answer'],
  ])('takes %s for %s', (code, kind) => {
    const cause = failure(code);
    const error = transportError(destination, cause);
    expect(error.kind).toBe(kind);
    expect(error.cause).toBe(cause);
    expect(error.status).toBeUndefined();
  });

  it('names the name that could not be resolved', () => {
    const error = transportError(destination, failure('ENOTFOUND', { hostname: 'proxy.example.com' }));
    expect(error.message).toContain("the name proxy.example.com can't be resolved");
  });

  it("tells a process without file descriptors from a panel that can't be reached", () => {
    const { message } = transportError(destination, failure('EMFILE'));
    expect(message).toContain('this process is out of file descriptors; raise its limit');
    expect(message).not.toContain("the panel's url");
  });

  it('speaks for the first of several addresses', () => {
    const cause = new AggregateError([failure('ECONNREFUSED')], '');
    expect(transportError(destination, cause)).toMatchObject({ kind: 'network' });
    expect(transportError(destination, cause).message).toContain('it failed');
  });

  it.each([[undefined], ['text'], [{ code: 7 }]])('takes %j as it is', (cause) => {
    expect(transportError(destination, cause).kind).toBe('network');
  });
});

describe('lastingRefusal and panelTrouble', () => {
  it('say nothing of errors that are not of the panel', () => {
    expect(lastingRefusal(new Error('x'))).toBeUndefined();
    expect(panelTrouble(undefined)).toBeUndefined();
    expect(panelTrouble(new PanelError('bad_answer', 'x'))).toBeUndefined();
  });
});
