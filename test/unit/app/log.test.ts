import fs from 'node:fs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openLog, type ProgramLog } from '../../../src/app/log.ts';

/** The result of a write: the number of accepted bytes, or an error. */
type Answer = number | 'ENOSPC' | 'EPIPE' | 'EAGAIN';

let written: string;

/** The results of the next writes. Later writes are accepted completely. */
let answers: Answer[];

/** The result of every write, if set. */
let always: Answer | undefined;

let output: ProgramLog;

beforeEach(async () => {
  vi.useFakeTimers();
  written = '';
  answers = [];
  always = undefined;
  vi.spyOn(fs, 'writeSync').mockImplementation((_fd: number, data: string | NodeJS.ArrayBufferView) => {
    const bytes = Buffer.from(data as string);
    const answer = always ?? answers.shift() ?? bytes.length;
    if (typeof answer === 'string') throw Object.assign(new Error(answer), { code: answer });
    written += bytes.toString('utf8', 0, answer);
    return Math.min(answer, bytes.length);
  });
  output = await openLog({ level: 'info', format: 'json' });
});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const log = (...words: readonly string[]) => {
  for (const word of words) output.log.info({}, word);
};

/** The written messages. */
const messages = () =>
  written
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { msg: string }).msg);

describe('a line', () => {
  it('is written at once, completely, even if the device accepts it in parts', () => {
    answers = [2, 1];
    log('one', 'two');
    expect(messages()).toEqual(['one', 'two']);
  });

  it.each(['ENOSPC', 'EAGAIN'] as const)('is written later, in order, if its write fails with %s', (code) => {
    answers = [code, 5, code];
    log('one', 'two');
    vi.advanceTimersByTime(1_000);
    log('three');
    expect(messages()).toEqual(['one', 'two', 'three']);
    expect(output.droppedLines()).toBe(0);
  });

  it('is written a second later even if nothing else is logged', () => {
    answers = ['EAGAIN'];
    log('last');
    expect(written).toBe('');
    vi.advanceTimersByTime(1_000);
    expect(messages()).toEqual(['last']);
  });

  it('is dropped and counted if nobody reads the pipe anymore', () => {
    log('one');
    always = 'EPIPE';
    log('two', 'three');
    expect(messages()).toEqual(['one']);
    expect(output.droppedLines()).toBe(2);
  });
});

it.each(['ENOSPC', 'EAGAIN'] as const)(
  'a backlog after %s uses a bounded amount of memory: lines beyond it are dropped and counted',
  (code) => {
    always = code;
    log(...Array.from({ length: 20 }, () => 'x'.repeat(100_000)));
    expect(output.droppedLines()).toBe(10);
    always = undefined;
    vi.advanceTimersByTime(1_000);
    expect(messages()).toHaveLength(10);
  },
);
