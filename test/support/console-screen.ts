import { PassThrough } from 'node:stream';
import { Screen } from '../../src/console/screen.ts';

/** A console's screen, and the test as its person. */
export interface TestScreen {
  readonly screen: Screen;
  /** The server's lines. */
  readonly lines: readonly string[];
  readonly notes: readonly string[];
  readonly type: (...lines: readonly string[]) => void;
  readonly endInput: () => void;
}

/** The lines of a stream, of which the last one is complete. */
function outputLines(stream: PassThrough): readonly string[] {
  const lines: string[] = [];
  stream.setEncoding('utf8').on('data', (text: string) => lines.push(...text.slice(0, -1).split('\n')));
  return lines;
}

/** Without input, nobody can type. */
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
