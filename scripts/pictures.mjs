// Takes pictures of the status page for docs/images, from the demo at the given address.
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const [address = 'http://127.0.0.1:10317', openServer = 'rust-weekly'] = process.argv.slice(2);
const FOLDER = new URL('../docs/images/', import.meta.url);

const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });

async function take(name, height, colorScheme, query) {
  const page = await browser.newPage({ viewport: { width: 1_360, height }, colorScheme });
  await page.goto(`${address}/${query}`);
  await page
    .locator(query === '' ? 'tr.server' : '.detail .chart')
    .first()
    .waitFor();
  await page.screenshot({ path: fileURLToPath(new URL(name, FOLDER)) });
}

const { servers } = await (await fetch(`${address}/api/v1/servers`)).json();
const opened = servers.find(({ server }) => server === openServer);
const query = new URLSearchParams({ open: `${opened.panel}/${opened.server_id}` });
await take('status-page.png', 800, 'light', '');
await take('status-page-open.png', 900, 'dark', `?${query}`);
await browser.close();
