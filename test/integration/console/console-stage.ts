import { vi } from 'vitest';
import { createConsole } from '../../../src/commands/console.ts';
import { panelApi } from '../../../src/commands/panel-api.ts';
import { parseConfig, resolveConfig } from '../../../src/config/parse.ts';
import type { ConsolePlan, ConsoleRun } from '../../../src/console/console-run.ts';
import type { ConsoleOutcome } from '../../../src/console/conversation.ts';
import type { Screen } from '../../../src/console/screen.ts';
import type { Simulator, SimulatorOptions } from '../../../src/simulator/api.ts';
import { startSimulator } from '../../../src/simulator/simulator.ts';
import { configFor } from '../../support/exporter.ts';
import { TestTime } from '../../support/test-time.ts';

const SPEED = 40;

/** Real milliseconds in which a condition must become true: generous, because machines are shared. */
const MAX_WAIT_MS = 25_000;

/** A console under test, and its output. */
export interface ConsoleUnderTest {
  readonly run: ConsoleRun;
  /** The server's lines. */
  readonly lines: readonly string[];
  readonly notes: readonly string[];
  readonly isClosed: boolean;
  readonly outcome: Promise<ConsoleOutcome>;
  /** Types a line, or ends the input. */
  type(line: string | undefined): void;
  /** Waits for a line or a note that equals or matches this. */
  shows(wanted: string | RegExp): Promise<void>;
}

/** A simulated panel, and consoles of its servers. */
export interface ConsoleStage {
  readonly panel: Simulator;
  readonly time: TestTime;
  open(plan?: Partial<ConsolePlan>, settings?: readonly string[], color?: boolean): ConsoleUnderTest;
  until(check: () => void): Promise<void>;
  stop(): Promise<void>;
}

export async function startStage(options: SimulatorOptions = {}): Promise<ConsoleStage> {
  const time = new TestTime(SPEED);
  const panel = await startSimulator({
    servers: [{ name: 'survival', profile: 'idle', consoleLinesPerSecond: 0 }],
    clock: time.clock(),
    ...options,
  });
  const opened: (ConsoleUnderTest & { readonly close: () => Promise<void> })[] = [];
  const until = (check: () => void) => vi.waitFor(check, { timeout: MAX_WAIT_MS, interval: 10 });
  return {
    panel,
    time,
    until,
    open: (plan = {}, settings = [], color = false) => {
      const made = openConsole(panel, time, { plan, settings, color }, until);
      opened.push(made);
      return made;
    },
    stop: async () => {
      for (const { run } of opened) run.end({ code: 0 });
      await Promise.all(opened.map(({ outcome }) => outcome));
      await Promise.all(opened.map(({ close }) => close()));
      await panel.stop();
    },
  };
}

interface Opening {
  readonly plan: Partial<ConsolePlan>;
  readonly settings: readonly string[];
  readonly color: boolean;
}

function openConsole(
  simulator: Simulator,
  time: TestTime,
  { plan, settings, color }: Opening,
  until: ConsoleStage['until'],
) {
  const { shape, variables, issues } = parseConfig(configFor(simulator, settings), 'test', {});
  const panel = shape && resolveConfig(shape, { contents: new Map<string, string>(), variables }).panels[0];
  const [target] = panel?.servers ?? [];
  if (panel === undefined || target === undefined) throw new Error(JSON.stringify(issues));
  const screen = new RecordingScreen(color, plan.readsInput === true || plan.interactive === true);
  const clock = time.clock();
  const api = panelApi(panel, clock);
  const full: ConsolePlan = { logs: false, commands: [], interactive: false, readsInput: false, ...plan };
  const run = createConsole(
    { panel, target, keySource: 'a test', plan: full, screen, clock, random: () => 0 },
    api,
  );
  const outcome = run.run();
  return {
    run,
    outcome,
    lines: screen.shown,
    notes: screen.notes,
    get isClosed() {
      return screen.isClosed;
    },
    type: (line: string | undefined) => screen.type(line),
    close: () => api.close(),
    shows: (wanted: string | RegExp) =>
      until(() => {
        const all = [...screen.shown, ...screen.notes];
        const found = all.some((line) => (typeof wanted === 'string' ? line === wanted : wanted.test(line)));
        if (!found) throw new Error(`expected ${String(wanted)}, got:\n${all.join('\n')}`);
      }),
  };
}

class RecordingScreen implements Screen {
  readonly color: boolean;
  readonly shown: string[] = [];
  readonly notes: string[] = [];
  readonly input: AsyncIterable<string> | undefined;
  isClosed = false;
  readonly #typed: (string | undefined)[] = [];
  #wake: () => void = () => undefined;

  constructor(color: boolean, readsInput: boolean) {
    this.color = color;
    this.input = readsInput ? { [Symbol.asyncIterator]: () => ({ next: () => this.#next() }) } : undefined;
  }

  lines(lines: readonly string[]): void {
    this.shown.push(...lines);
  }

  note(text: string): void {
    this.notes.push(text);
  }

  close(): void {
    this.isClosed = true;
  }

  type(line: string | undefined): void {
    this.#typed.push(line);
    this.#wake();
  }

  async #next(): Promise<IteratorResult<string>> {
    while (this.#typed.length === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const value = this.#typed.shift();
    return value === undefined ? { done: true, value: undefined } : { done: false, value };
  }
}
