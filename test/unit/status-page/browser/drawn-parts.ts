// Single parts of the status page in a simulated window.
import { Window } from 'happy-dom';
import { type ComponentChild, render } from 'preact';
import { vi } from 'vitest';

/** Draws a part of the page. The test has to reset the stubbed globals. */
export function drawPart(part: ComponentChild): HTMLElement {
  const window = new Window();
  vi.stubGlobal('document', window.document);
  const place = document.createElement('div');
  document.body.append(place);
  render(part, place);
  return place;
}

/** The text of a part of the page. */
export function textOf(part: ComponentChild): string {
  return drawPart(part).textContent ?? '';
}
