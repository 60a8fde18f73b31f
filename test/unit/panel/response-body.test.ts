import { describe, expect, it } from 'vitest';
import type { Reply } from '../../../src/panel/panel-connections.ts';
import { MAX_QUOTED_LENGTH, NotJsonError, parseBody, refusalBody } from '../../../src/panel/response-body.ts';
import { ShapeError } from '../../../src/panel/responses.ts';

const reply = (text: string, contentEncoding = ''): Reply => ({
  status: 200,
  contentType: 'application/json',
  contentEncoding,
  rate: {},
  text,
});

describe('the body of a response', () => {
  it.each([
    ['JSON', reply('{"a":[1]}'), { a: [1] }],
    ['uncompressed JSON', reply('[]', 'identity'), []],
  ])('is parsed if it is %s', (_what, response, expected) => {
    expect(parseBody(response)).toEqual(expected);
  });

  it.each([
    ['a web page', reply(' <!doctype html>'), 'the body is a web page, not JSON'],
    ['no JSON', reply('nginx'), 'the body is not JSON'],
    ['compressed', reply('{}', 'br'), 'the body is compressed (br), although compression was not requested'],
  ])('is refused if it is %s', (_what, response, message) => {
    expect(() => parseBody(response)).toThrow(new NotJsonError(message));
  });

  it.each([
    ['objects', '[{}'],
    ['arrays', '[[]'],
    ['members', '{"a":1'],
  ])('is not parsed if it has too many %s', (_what, first) => {
    const text = first + first.slice(1).repeat(200_001);
    expect(() => parseBody(reply(text))).toThrow(
      new ShapeError('expected a response of at most 200000 JSON values'),
    );
  });
});

describe('the body of a refused call', () => {
  it.each([
    ['JSON', '{"errors":[]}', { errors: [] }],
    ['no JSON', '<html>', undefined],
    ['longer than is quoted', `"${'x'.repeat(MAX_QUOTED_LENGTH)}"`, undefined],
  ])('that is %s', (_what, text, expected) => {
    expect(refusalBody(reply(text))).toEqual(expected);
  });
});
