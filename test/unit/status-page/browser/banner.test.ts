import { afterEach, describe, expect, it, vi } from 'vitest';
import { advice, banner } from '../../../../src/status-page/browser/banner.tsx';
import type { Complaint } from '../../../../src/status-page/data/complaint.ts';
import { NOW } from '../../../support/urgent-fleet.ts';
import { drawPart } from './drawn-parts.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

const COMPLAINT: Complaint = {
  severity: 'warning',
  title: 'panel main is down',
  action: 'Check `url`.',
  detail: 'no <response>',
};

const paragraphs = (part: HTMLElement) =>
  [...part.querySelectorAll('p')].map(({ textContent }) => textContent);

describe('a banner', () => {
  it('has what is wrong, what to do, and what happened', () => {
    const drawn = drawPart(banner(COMPLAINT, NOW));
    expect(paragraphs(drawn)).toEqual(['Panel main is down', 'Check url.', 'no <response>']);
    expect(drawn.querySelector('.notice')?.getAttribute('data-severity')).toBe('warning');
    expect(drawn.querySelector('code')?.textContent).toBe('url');
  });

  it('has since when, if that is known', () => {
    const [title] = paragraphs(drawPart(banner({ ...COMPLAINT, since: NOW - 300 }, NOW)));
    expect(title).toMatch(/^Panel main is downsince .*, 5 min$/);
  });
});

describe('the advice below a title', () => {
  it.each<[string, Partial<Complaint>, readonly string[] | undefined]>([
    ['is what to do, and what happened', {}, ['Check url.', 'no <response>']],
    ['is what to do', { detail: '' }, ['Check url.']],
    ['is what happened', { action: '' }, ['no <response>']],
    ['is nothing if neither is known', { action: '', detail: '' }, undefined],
  ])('%s', (_what, changes, expected) => {
    const part = advice({ ...COMPLAINT, ...changes });
    expect(part && paragraphs(drawPart(part))).toEqual(expected ?? null);
  });
});
