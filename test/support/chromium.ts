import { type Browser, chromium } from 'playwright-core';
import { ensureDebianPackage } from './debian.ts';

/** Whether a browser is available to test the page. */
export const hasChromium = await ensureDebianPackage('chromium', 'chromium');

export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
}
