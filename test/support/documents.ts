// The Markdown files of the project, for tests of the documentation.
import { readdirSync, readFileSync } from 'node:fs';

/** A Markdown file. */
export interface Document {
  /** The path, relative to the project's root. */
  readonly path: string;
  readonly text: string;
}

/** The user documentation: the pages in the root folder, and all pages in `docs`. */
export function documents(): readonly Document[] {
  const pages = readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`);
  return ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...pages.sort()].map((path) => ({
    path,
    text: readFileSync(path, 'utf8'),
  }));
}

/** The fenced code blocks of this language, without their common indentation. */
export function fencedBlocks({ text }: Pick<Document, 'text'>, language: string): readonly string[] {
  const fence = new RegExp(`^( *)\`\`\`${language}\n([^]*?)^\\1\`\`\`$`, 'gm');
  return [...text.matchAll(fence)].map(([, indent = '', body = '']) =>
    body.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  );
}

/** The text without its fenced code blocks. */
export function proseOf({ text }: Pick<Document, 'text'>): string {
  return text.replaceAll(/^( *)```[^]*?^\1```$/gm, '');
}
