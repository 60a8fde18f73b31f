import { Writable } from 'node:stream';

/** A terminal that supports only the escape sequences of readline and the console's screen. */
export class VirtualTerminal extends Writable {
  readonly columns: number;
  readonly isTTY = true;
  readonly #rows: string[][] = [[]];
  #row = 0;
  #column = 0;

  constructor(columns: number) {
    super({ decodeStrings: false });
    this.columns = columns;
  }

  /** The rows that aren't empty. */
  get rows(): readonly string[] {
    return this.#rows
      .map((row) =>
        Array.from(row, (cell) => cell ?? ' ')
          .join('')
          .trimEnd(),
      )
      .filter((row) => row !== '');
  }

  override _write(text: string, _encoding: string, done: () => void): void {
    // eslint-disable-next-line no-control-regex -- the test looks for escapes
    for (const [token] of text.matchAll(/\u001b\[[\d;?]*[A-Za-z]|[\s\S]/gu)) this.#take(token);
    done();
  }

  #take(token: string): void {
    if (token.startsWith('\u001b[')) this.#obey(Number.parseInt(token.slice(2), 10) || 0, token.at(-1) ?? '');
    else if (token === '\r') this.#column = 0;
    else if (token === '\n') this.#feed();
    else this.#put(token);
  }

  #put(character: string): void {
    if (this.#column === this.columns) this.#feed();
    const row = (this.#rows[this.#row] ??= []);
    row[this.#column] = character;
    this.#column += 1;
  }

  // As in a real terminal, a new line starts in the first column.
  #feed(): void {
    this.#row += 1;
    this.#column = 0;
    this.#rows[this.#row] ??= [];
  }

  #obey(count: number, command: string): void {
    switch (command) {
      case 'A':
        this.#row = Math.max(0, this.#row - Math.max(1, count));
        break;
      case 'B':
        this.#row += Math.max(1, count);
        break;
      case 'C':
        this.#column += Math.max(1, count);
        break;
      case 'D':
        this.#column = Math.max(0, this.#column - Math.max(1, count));
        break;
      case 'G':
        this.#column = Math.max(1, count) - 1;
        break;
      case 'J':
        this.#rows[this.#row]?.splice(this.#column);
        this.#rows.splice(this.#row + 1);
        break;
      case 'm':
        break;
      default:
        throw new Error(`the virtual terminal knows no ${command}`);
    }
  }
}
