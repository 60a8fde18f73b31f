// A console's screen whose user is the test.
import { PassThrough } from 'node:stream';
import { Screen } from '../../src/console/screen.ts';

/** A screen, and everything that it printed. */
export interface TestScreen {
  readonly screen: Screen;
  /** The lines of the server's console. */
  readonly lines: readonly string[];
  readonly notes: readonly string[];
  readonly type: (...lines: readonly string[]) => void;
  readonly endInput: () => void;
}

/** The complete lines of a stream so far. */
function outputLines(stream: PassThrough): readonly string[] {
  const lines: string[] = [];
  stream.setEncoding('utf8').on('data', (text: string) => lines.push(...text.slice(0, -1).split('\n')));
  return lines;
}

/** `readsInput` lets the test type. */
export function testScreen({ readsInput = false }: { readonly readsInput?: boolean }): TestScreen {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const screen = new Screen({
    stdin: readsInput ? stdin : undefined,
    stdout,
    stderr,
    color: false,
    onInterrupt: () => undefined,
  });
  const shown = outputLines(stderr);
  return {
    screen,
    lines: outputLines(stdout),
    get notes() {
      return shown.map((note) => note.replace(/^-- /, ''));
    },
    type: (...lines) => void stdin.write(lines.map((line) => `${line}\n`).join('')),
    endInput: () => void stdin.end(),
  };
}
