type Rgb = readonly [red: number, green: number, blue: number];

/** The 16 basic colors as most terminals show them. */
const BASIC: readonly Rgb[] = [
  [0, 0, 0],
  [205, 0, 0],
  [0, 205, 0],
  [205, 205, 0],
  [0, 0, 238],
  [205, 0, 205],
  [0, 205, 205],
  [229, 229, 229],
  [127, 127, 127],
  [255, 0, 0],
  [0, 255, 0],
  [255, 255, 0],
  [92, 92, 255],
  [255, 0, 255],
  [0, 255, 255],
  [255, 255, 255],
];

/** Two colors are hard to tell apart if the sum of the differences of their channels is at most this. */
const NEAR = 96;

// eslint-disable-next-line no-control-regex -- matches escape sequences
const SGR = /\u001b\[([\d;:]*)m/g;

/** One setting of an SGR sequence: its code as written, and the color that it sets, if any. */
interface Setting {
  readonly written: string;
  readonly code: number;
  readonly color: Rgb | undefined;
}

const BLACK: Rgb = [0, 0, 0];
const WHITE: Rgb = [255, 255, 255];

/**
 * The line with its colors, except those that hide text: concealment (SGR 8), text in the color of its background or a similar
 * one, and what is hard to read in the terminal's own colors, which are unknown: near-black text on its background, and its text
 * on near-black or near-white. The line starts with the terminal's own colors.
 */
export function withoutConcealment(line: string): string {
  let foreground: Rgb | undefined;
  let background: Rgb | undefined;
  return line.replaceAll(SGR, (_sequence, parameters: string) => {
    const kept: string[] = [];
    for (const { written, code, color } of settingsIn(parameters)) {
      if (code === 8) continue;
      kept.push(written);
      if (code === 0) [foreground, background] = [undefined, undefined];
      else if (isForeground(code)) foreground = color;
      else if (isBackground(code)) background = color;
    }
    if (isNear(background, foreground) || (foreground === undefined && isExtreme(background))) {
      background = undefined;
      kept.push('49');
    }
    if (background === undefined && isNear(foreground, BLACK)) {
      foreground = undefined;
      kept.push('39');
    }
    return kept.length === 0 ? '' : `\u001b[${kept.join(';')}m`;
  });
}

function isExtreme(color: Rgb | undefined): boolean {
  return isNear(color, BLACK) || isNear(color, WHITE);
}

function isForeground(code: number): boolean {
  return (code >= 30 && code <= 39) || (code >= 90 && code <= 97);
}

function isBackground(code: number): boolean {
  return (code >= 40 && code <= 49) || (code >= 100 && code <= 107);
}

function isNear(one: Rgb | undefined, other: Rgb | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  return one.reduce((sum, level, channel) => sum + Math.abs(level - (other[channel] ?? 0)), 0) <= NEAR;
}

/** The settings of a sequence, in order. The numbers of a color follow its code, after semicolons or colons. */
function settingsIn(parameters: string): readonly Setting[] {
  const parts = parameters.split(';');
  const settings: Setting[] = [];
  while (parts.length > 0) {
    const part = parts.shift() ?? '';
    const [first = '', ...rest] = part.split(':');
    const code = Number(first);
    // 38, 48 and 58 (the underline color) take either `5` and a number, or `2` and three numbers.
    const isExtended = code === 38 || code === 48 || code === 58;
    const taken = isExtended && rest.length === 0 ? parts.splice(0, argumentCount(parts[0])) : [];
    const numbers = [...rest.filter((text) => text !== ''), ...taken].map(Number);
    settings.push({
      written: [part, ...taken].join(';'),
      code,
      color: isExtended ? extendedColor(numbers) : basicColor(code),
    });
  }
  return settings;
}

function argumentCount(kind: string | undefined): number {
  if (kind === '5') return 2;
  return kind === '2' ? 4 : 0;
}

function basicColor(code: number): Rgb | undefined {
  const index = code % 10;
  if (index > 7) return undefined;
  return BASIC[code >= 90 ? index + 8 : index];
}

function extendedColor([kind, ...numbers]: readonly number[]): Rgb | undefined {
  if (kind === 5) return paletteColor(numbers[0] ?? 0);
  // With colons, the identifier of a color space may come first.
  const [red = 0, green = 0, blue = 0] = numbers.slice(-3);
  return kind === 2 ? [red, green, blue] : undefined;
}

/** The 256 colors: the basic ones, a cube of 6 by 6 by 6, and 24 grays. */
function paletteColor(index: number): Rgb | undefined {
  if (index < BASIC.length) return BASIC[index];
  if (index >= 232) {
    const gray = 8 + (index - 232) * 10;
    return [gray, gray, gray];
  }
  const level = (step: number) => (step === 0 ? 0 : 55 + step * 40);
  const at = index - BASIC.length;
  return [level(Math.floor(at / 36)), level(Math.floor(at / 6) % 6), level(at % 6)];
}
