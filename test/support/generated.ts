// Compares generated texts with the committed files, or writes them.
import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';

const ROOT = new URL('../../', import.meta.url);

/** If the variable is 1, files are written instead of compared. */
const UPDATE = process.env['UPDATE_GENERATED'] === '1';

/**
 * Compares the generated text with the part of a Markdown file between `<!-- begin NAME -->` and
 * `<!-- end NAME -->`.
 */
export function expectSection(file: string, name: string, generated: string): void {
  const url = new URL(file, ROOT);
  const text = readFileSync(url, 'utf8');
  const pattern = new RegExp(`(<!-- begin ${name} -->\n)([^]*?)(<!-- end ${name} -->)`);
  const found = pattern.exec(text);
  if (found === null) throw new Error(`${file}: expected the markers of the section "${name}"`);
  const section = `\n${generated.trim()}\n\n`;
  if (UPDATE)
    writeFileSync(
      url,
      text.replace(pattern, (_all, begin, _old, end) => `${begin}${section}${end}`),
    );
  else expect(found[2], `${file} is outdated: UPDATE_GENERATED=1 npm run test:unit updates it`).toBe(section);
}

/** Compares the generated text with a whole file. */
export function expectFile(file: string, generated: string): void {
  const url = new URL(file, ROOT);
  if (UPDATE) writeFileSync(url, generated);
  else {
    const hint = `${file} is outdated: UPDATE_GENERATED=1 npm run test:unit updates it`;
    expect(readFileSync(url, 'utf8'), hint).toBe(generated);
  }
}
