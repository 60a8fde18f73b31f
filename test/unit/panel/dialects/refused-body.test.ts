import { describe, expect, it } from 'vitest';
import type { ErrorBody } from '../../../../src/panel/dialect.ts';
import { readBody } from '../../../../src/panel/dialects/refused-body.ts';
import type { Fields } from '../../../../src/panel/dialects/wire.ts';

/** The error form of a panel whose errors have the field `own`. */
const own = (body: Fields): ErrorBody | undefined =>
  typeof body['own'] === 'string' ? { form: 'message', code: 'Own', detail: body['own'] } : undefined;

const read = (text: string, contentType = 'application/json') => readBody(text, contentType, own);
const foreign = (detail?: string) => ({ form: 'foreign', detail });

describe('the body of a refused call', () => {
  it('in the form of the panel is read by the panel, and its message is made printable', () => {
    expect(read('{"own":"no\\u001b[31m\\nserver"}')).toEqual({
      form: 'message',
      code: 'Own',
      detail: 'no server',
    });
  });

  it.each([
    ['a message', '{"message":"blocked"}', 'blocked'],
    ['a detail', '{"detail":"blocked"}', 'blocked'],
    ['a title', '{"title":"blocked"}', 'blocked'],
    ['an error', '{"error":"blocked"}', 'blocked'],
    ['a message in an error', '{"error":{"message":"blocked"}}', 'blocked'],
    [
      'a message in the first of several errors',
      '{"errors":[{"detail":"blocked"},{"detail":"b"}]}',
      'blocked',
    ],
    ['nothing', '{}', undefined],
    ['a list', '["blocked"]', '["blocked"]'],
  ])('in JSON of something else has %s as message', (_what, text, detail) => {
    expect(read(text)).toEqual(foreign(detail));
  });

  it.each([
    ['its title', '<html><title>502 Bad Gateway</title><body>nginx', '502 Bad Gateway'],
    ['its first line if the title is empty', '<title> </title><p>Not here</p><p>More</p>', 'Not here'],
    ['its first line if it has no title', '<div>Not<b> here</b></div>More', 'Not here'],
    ['nothing that a browser doesn’t show', '<style>p{}</style><script>x()</script>Seen', 'Seen'],
    ['nothing of a text without any', '<html></html>', undefined],
  ])('of a page has %s as message', (_what, page, detail) => {
    expect(read(page, 'text/plain')).toEqual(foreign(detail));
  });

  it('of a page is read near its start only', () => {
    const page = `<p>${' '.repeat(4_096)}<title>late</title>`;
    expect(read(page, 'text/html')).toEqual(foreign());
  });

  it('as plain text has its first line as message, also as HTML by its type', () => {
    expect(read('\n Too many requests\nmore', 'text/plain')).toEqual(foreign('Too many requests'));
    expect(read('Denied<br>by policy', 'text/html')).toEqual(foreign('Denied'));
  });
});
