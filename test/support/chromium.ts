import { type Browser, chromium } from 'playwright-core';
import { ensureDebianPackage } from './debian.ts';

/** Is there a browser to test the page in? */
export const hasChromium = await ensureDebianPackage('chromium', 'chromium');

export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
}
