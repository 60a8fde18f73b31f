// The status page in a simulated window, with a stream that the test sends.
import { Window } from 'happy-dom';
import { vi } from 'vitest';
import type { FleetReading, PanelReading, ServerReading } from '../../../../src/domain/reading.ts';
import { Page } from '../../../../src/status-page/browser/page.tsx';
import { type Picture, takePicture } from '../../../../src/status-page/data/picture.ts';
import { pageText } from '../../../../src/status-page/page-document.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { updateOf, VERSION } from '../../../support/page-data.ts';
import { fleetReading, panelReading, READ_AT } from '../../../support/readings.ts';

/** The parts of a window that the page uses. */
const GLOBALS = [
  'document',
  'location',
  'history',
  'localStorage',
  'sessionStorage',
  'HTMLElement',
  'HTMLInputElement',
  'HTMLSelectElement',
  'innerHeight',
] as const;

/** A connection to the exporter's stream. */
class Source extends EventTarget {
  static readonly opened: Source[] = [];
  readonly url: string;
  isClosed = false;

  constructor(url: string) {
    super();
    this.url = url;
    Source.opened.push(this);
  }

  close(): void {
    this.isClosed = true;
  }

  send(type: 'full' | 'delta', update: unknown): void {
    this.dispatchEvent(new MessageEvent(type, { data: JSON.stringify(update) }));
  }
}

/** The exporter's data: servers, panels, and responses to requests for a history. */
export interface Shown {
  readonly servers: readonly ServerReading[];
  readonly panels?: readonly PanelReading[];
  readonly history?: unknown;
}

export class PageWindow {
  readonly window: Window;
  /** The addresses of all requests of the page, without the stream. */
  readonly requests: string[] = [];
  readonly #clock = new ManualClock(READ_AT);
  /** An exporter keeps its list of servers as long as they are the same. */
  readonly #servers: ServerReading[] = [];
  #shown: Shown;
  #picture: Picture | undefined;

  /** Opens the page with this query. The stream hasn't sent anything yet. */
  constructor(shown: Shown, query = '', before?: PageWindow) {
    this.#shown = shown;
    this.window = before?.window ?? new Window({ url: `http://exporter.example/below/${query}` });
    this.window.document.write(pageText(VERSION));
    Source.opened.length = 0;
    for (const name of GLOBALS) vi.stubGlobal(name, this.window[name]);
    vi.stubGlobal('window', this.window);
    vi.stubGlobal('getSelection', () => '');
    vi.stubGlobal('matchMedia', () => ({ matches: true }));
    vi.stubGlobal('EventSource', Source);
    vi.stubGlobal('fetch', async (url: string) => {
      this.requests.push(url);
      const { history = null } = this.#shown;
      return { ok: history !== null, json: async () => ({ servers: [history] }) };
    });
    new Page().start();
  }

  /** Opens the page, and sends all data. */
  static live(shown: Shown, query = ''): PageWindow {
    const page = new PageWindow(shown, query);
    page.full();
    return page;
  }

  get sources(): readonly Source[] {
    return Source.opened;
  }

  full(version = VERSION): void {
    this.#picture = this.#take();
    Source.opened.at(-1)?.send('full', { ...updateOf(undefined, this.#picture), version });
  }

  /** Advances the time, and sends the changes. */
  async change(shown: Shown, seconds = 1): Promise<void> {
    this.#shown = { ...this.#shown, ...shown };
    await this.#clock.advance(1_000 * seconds);
    const before = this.#picture;
    this.#picture = this.#take();
    Source.opened.at(-1)?.send('delta', updateOf(before, this.#picture));
  }

  #take(): Picture {
    const { servers, panels = [panelReading()] } = this.#shown;
    this.#servers.splice(0, this.#servers.length, ...servers);
    const fleet: FleetReading = fleetReading(this.#servers, panels);
    const panelUrl = () => 'https://panel.example';
    const walk = takePicture({ fleet, clock: this.#clock, version: VERSION, rateLimited: () => 0, panelUrl });
    for (;;) {
      const { done, value } = walk.next();
      if (done === true) return value;
    }
  }

  all(selector: string): readonly HTMLElement[] {
    return [...document.querySelectorAll<HTMLElement>(selector)];
  }

  one(selector: string): HTMLElement {
    const found = document.querySelector<HTMLElement>(selector);
    if (found === null) throw new Error(`the page has no ${selector}`);
    return found;
  }

  texts(selector: string): readonly string[] {
    return this.all(selector).map(({ textContent }) => textContent ?? '');
  }

  text(selector: string): string {
    return this.one(selector).textContent ?? '';
  }

  get names(): readonly string[] {
    return this.texts('tr.server .name');
  }

  row(name: string): HTMLElement {
    const row = this.all('tr.server').find((one) => one.querySelector('.name')?.textContent === name);
    if (row === undefined) throw new Error(`the page has no row of ${name}`);
    return row;
  }

  cell(name: string, column: string): string {
    return this.row(name).querySelector(`td.${column}`)?.textContent ?? '';
  }

  button(text: string): HTMLElement {
    const button = this.all('button').find(({ textContent }) => textContent === text);
    if (button === undefined) throw new Error(`the page has no button "${text}"`);
    return button;
  }

  /** The server's name in the row with the keyboard focus. */
  get focused(): string | undefined {
    return document.activeElement?.querySelector('.name')?.textContent ?? undefined;
  }

  async click(target: HTMLElement): Promise<void> {
    target.click();
    await drawn();
  }

  /** Presses a key in the focused element. Returns false if the page handled it. */
  async press(key: string): Promise<boolean> {
    const event = new this.window.KeyboardEvent('keydown', { key, bubbles: true, cancelable: true });
    const isLeft = (document.activeElement ?? document.body).dispatchEvent(event as unknown as Event);
    await drawn();
    return isLeft;
  }

  /** Types a text into the search. */
  async search(text: string): Promise<void> {
    const field = this.one('.search') as HTMLInputElement;
    field.value = text;
    field.dispatchEvent(new this.window.Event('input', { bubbles: true }) as unknown as Event);
    await drawn();
  }

  get query(): string {
    return location.search;
  }
}

/** Lets the page draw its changes, and receive the responses to its requests. */
export async function drawn(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
