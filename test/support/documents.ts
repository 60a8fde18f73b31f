import { readdirSync, readFileSync } from 'node:fs';

/** A Markdown file of the project. */
export interface Document {
  /** Relative to the project's root. */
  readonly path: string;
  readonly text: string;
}

/** The user documentation: the pages at the project's root, and everything in docs. */
export function documents(): readonly Document[] {
  const pages = readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`);
  return ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...pages.sort()].map((path) => ({
    path,
    text: readFileSync(path, 'utf8'),
  }));
}

/** The fenced blocks of a language, without their common indentation. */
export function fencedBlocks({ text }: Pick<Document, 'text'>, language: string): readonly string[] {
  const fence = new RegExp(`^( *)\`\`\`${language}\n([^]*?)^\\1\`\`\`$`, 'gm');
  return [...text.matchAll(fence)].map(([, indent = '', body = '']) =>
    body.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  );
}

/** The text without its fenced blocks. */
export function proseOf({ text }: Pick<Document, 'text'>): string {
  return text.replaceAll(/^( *)```[^]*?^\1```$/gm, '');
}
