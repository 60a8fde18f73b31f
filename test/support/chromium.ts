import { type Browser, chromium } from 'playwright-core';
import { hasProgram } from './has-program.ts';
import { PROGRAMS } from './programs.ts';

/** Whether a browser is available to test the page. */
export const hasChromium = hasProgram('chromium');

export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: PROGRAMS.chromium.file, args: ['--no-sandbox', '--disable-gpu'] });
}
