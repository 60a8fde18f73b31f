// Chromium for tests of the status page.
import { type Browser, chromium } from 'playwright-core';
import { hasProgram } from './has-program.ts';
import { PROGRAMS } from './programs.ts';

/** Whether Chromium is installed. */
export const hasChromium = hasProgram('chromium');

export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: PROGRAMS.chromium.file, args: ['--no-sandbox', '--disable-gpu'] });
}
