import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { documents, proseOf } from '../../support/documents.ts';

/** The targets of links and images, except for those in code. */
function targetsIn(text: string): readonly string[] {
  const prose = proseOf({ text }).replaceAll(/`[^`\n]*`/g, '`');
  const links = [...prose.matchAll(/\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g)];
  const attributes = [...prose.matchAll(/\b(?:src|srcset|href)="([^"]+)"/g)];
  return [...links, ...attributes].map(([, target = '']) => target);
}

/** The anchors of a page: those that GitHub generates for headings, and those of table rows. */
function anchorsIn(text: string): ReadonlySet<string> {
  const seen = new Map<string, number>();
  const explicit = [...proseOf({ text }).matchAll(/<a id="([^"]+)"><\/a>/g)].map(([, id = '']) => id);
  const headings = [...proseOf({ text }).matchAll(/^#{1,6} +(.+?) *$/gm)];
  return new Set([
    ...explicit,
    ...headings.map(([, heading = '']) => {
      const words = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
      const anchor = words.replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(/\s/g, '-');
      const before = seen.get(anchor) ?? 0;
      seen.set(anchor, before + 1);
      return before === 0 ? anchor : `${anchor}-${before}`;
    }),
  ]);
}

/** The problem of a link on this page; undefined if its target exists or is external. */
function problemOf(target: string, page: string, text: string): string | undefined {
  if (/^[a-z][a-z+.-]*:/i.test(target)) return undefined;
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? page : join(dirname(page), decodeURI(path));
  if (!existsSync(file)) return `${target}: there is no ${file}`;
  if (anchor === undefined) return undefined;
  const there = path === '' ? text : readFileSync(file, 'utf8');
  return anchorsIn(there).has(anchor) ? undefined : `${target}: ${file} has no such anchor`;
}

describe('every link has a target', () => {
  it.each(documents())('in $path', ({ path, text }) => {
    expect(targetsIn(text).flatMap((target) => problemOf(target, path, text) ?? [])).toEqual([]);
  });

  // Readers don't find a page without a link from the README.
  it('from the README to every page of docs', () => {
    const pages = documents().filter(({ path }) => /^docs\/[^/]+\.md$/.test(path));
    const readme = readFileSync('README.md', 'utf8');
    expect(pages.filter(({ path }) => !readme.includes(`](${path})`))).toEqual([]);
  });

  it('and a broken link is detected', () => {
    const text =
      '# A `b`: c\n<a id="row"></a>[r](#row) [x](#a-b-c) [y](#nowhere) [z](nothing.md) <img src="no.png"> `[code](none)`\n';
    expect(targetsIn(text).map((target) => problemOf(target, 'README.md', text))).toEqual([
      undefined,
      undefined,
      '#nowhere: README.md has no such anchor',
      'nothing.md: there is no nothing.md',
      'no.png: there is no no.png',
    ]);
  });
});
