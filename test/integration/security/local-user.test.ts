import fs from 'node:fs';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openLog } from '../../../src/app/log.ts';
import { checkCommand } from '../../../src/commands/check.ts';
import { serveCommand } from '../../../src/commands/serve.ts';
import { printable } from '../../../src/text/printable.ts';
import { Secret } from '../../../src/text/redaction.ts';

const STANDARD_ERROR = 2;

let written: string;

// Captures the written text, so the test doesn't depend on the logging library.
beforeEach(() => {
  written = '';
  const { writeSync } = fs;
  const write = (fd: number, text: string | Uint8Array, ...rest: unknown[]) => {
    if (fd !== STANDARD_ERROR) return Reflect.apply(writeSync, fs, [fd, text, ...rest]) as number;
    written += Buffer.from(text).toString();
    return Buffer.byteLength(text);
  };
  vi.spyOn(fs, 'writeSync').mockImplementation(write);
});

afterEach(() => {
  vi.restoreAllMocks();
});

const EVIL = '\u001b[31mred\u001b]0;title\u0007\u009b2J\r\nforged="line"\u2028\u202e\u0000';

describe.each(['json', 'pretty'] as const)('the %s log', (format) => {
  it('writes a problem with untrusted text on one line, without control characters', async () => {
    const { log } = await openLog({ level: 'info', format });
    const detail = printable(EVIL);
    log.warn({ detail }, `server survival can't be monitored: ${detail}`);
    expect(written).toContain('forged=');
    expect(written.trimEnd().replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    // JSON lines contain the text in the message and in a field. Pretty lines omit the field.
    expect(written.match(/forged=/g)).toHaveLength(format === 'json' ? 2 : 1);
  });

  it('shows no secret, even if one is logged by mistake', async () => {
    const { log } = await openLog({ level: 'info', format });
    const key = new Secret('TopSecret1');
    log.info(
      { key, nested: { key }, apiKey: 'TopSecret1', call: { token: 'TopSecret1' } },
      `with ${String(key)}`,
    );
    log.error({ err: Object.assign(new Error('trouble'), { key, authorization: 'TopSecret1' }) }, 'failed');
    expect(written).toContain('with <secret>');
    expect(written).toContain('trouble');
    expect(written).not.toContain('TopSecret1');
  });
});

describe('the command line', () => {
  it('accepts no secret, so that none appears in the process list', () => {
    const flags = [serveCommand(), checkCommand()].flatMap(({ options }) => options.map(({ long }) => long));
    expect(flags).toContain('--config');
    expect(flags.filter((flag) => /key|token|secret|password|auth/i.test(flag ?? ''))).toEqual([]);
  });
});

describe('a secret', () => {
  it('is only returned by reveal', () => {
    const secret = new Secret('TopSecret1');
    const shown = [
      inspect({ secret }, { depth: 9, showHidden: true }),
      JSON.stringify({ secret }),
      String(secret),
      Object.entries(secret).join(),
      new Error('with', { cause: secret }).stack,
    ];
    for (const text of shown) expect(text).not.toContain('TopSecret1');
    expect(secret.reveal()).toBe('TopSecret1');
  });
});
