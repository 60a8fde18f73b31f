import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { chromium, type Page, type Route } from 'playwright-core';
import type { Dashboard, View } from './src/dashboard.ts';

const { values: options } = parseArgs({
  options: {
    prometheus: { type: 'string', default: 'http://127.0.0.1:9090' },
    'scrape-interval': { type: 'string', default: '15' },
    browser: { type: 'string', default: '/usr/bin/chromium' },
    out: { type: 'string', default: '.' },
    /** File names without `.json`; all by default. */
    dashboard: { type: 'string', multiple: true, default: ['fleet', 'server', 'exporter'] },
    /** The server of the dashboard `server`. */
    server: { type: 'string', default: 'survival' },
    /** Titles of collapsed rows to expand. */
    expand: { type: 'string', multiple: true, default: [] },
    theme: { type: 'string', default: 'dark' },
    width: { type: 'string', default: '1600' },
    /** Pixels from the top; the whole dashboard by default. */
    height: { type: 'string' },
    minutes: { type: 'string', default: '60' },
    /** The end of the time range as a date; now by default. */
    to: { type: 'string' },
  },
});

const ORIGIN = 'http://dashboards.invalid';
const require = createRequire(import.meta.url);

/** Where Grafana's components look for fonts, by the files that they are served from. */
const FONTS: Readonly<Record<string, string>> = {
  'Inter-Regular.woff2': 'inter-latin-400-normal.woff2',
  'Inter-Medium.woff2': 'inter-latin-500-normal.woff2',
};

const { script, style } = await bundled();
const browser = await chromium.launch({
  executablePath: options.browser,
  args: ['--no-sandbox', '--disable-gpu'],
});
try {
  mkdirSync(options.out, { recursive: true });
  for (const name of options.dashboard) {
    const path = join(options.out, `${name}.png`);
    await picture(name, path);
    console.log(path);
  }
} finally {
  await browser.close();
}

async function bundled(): Promise<{ script: string; style: string }> {
  const { outputFiles } = await build({
    entryPoints: ['src/app.tsx'],
    bundle: true,
    write: false,
    outdir: 'out',
    format: 'esm',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"', global: 'globalThis' },
    loader: { '.ttf': 'empty' },
    logLevel: 'error',
  });
  const text = (suffix: string) => outputFiles.find(({ path }) => path.endsWith(suffix))?.text ?? '';
  return { script: text('.js'), style: text('.css') };
}

async function picture(name: string, path: string): Promise<void> {
  const width = Number(options.width);
  const page = await browser.newPage({ viewport: { width, height: 1_000 } });
  page.on('pageerror', (error) => console.error(error));
  await page.route('**/*', (route) => serve(route, viewOf(name)));
  await page.goto(ORIGIN);
  await page.waitForFunction(() => window.pending === 0, undefined, { timeout: 120_000 });
  const failures = await page.evaluate(() => window.failures);
  if (failures.length > 0) throw new Error(failures.join('\n'));
  // Grafana draws only what is in the window.
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  await page.setViewportSize({ width, height });
  await settled(page);
  await page.screenshot({ path, clip: { x: 0, y: 0, width, height: Number(options.height ?? height) } });
  await page.close();
}

/** Waits until the fonts are loaded and the page hasn't changed for a second. */
async function settled(page: Page): Promise<void> {
  await page.evaluate(async () => {
    await document.fonts.ready;
    await new Promise<void>((resolve) => {
      let timer = setTimeout(resolve, 1_000);
      new MutationObserver(() => {
        clearTimeout(timer);
        timer = setTimeout(resolve, 1_000);
      }).observe(document.body, { subtree: true, childList: true, attributes: true });
    });
  });
}

function viewOf(name: string): View {
  const file = new URL(`../../deploy/grafana/dashboards/${name}.json`, `file://${process.cwd()}/`);
  const to = Math.floor((options.to === undefined ? Date.now() : Date.parse(options.to)) / 1_000);
  return {
    dashboard: JSON.parse(readFileSync(file, 'utf8')) as Dashboard,
    from: to - Number(options.minutes) * 60,
    to,
    theme: options.theme === 'light' ? 'light' : 'dark',
    scrapeInterval: Number(options['scrape-interval']),
    expanded: options.expand,
    server: options.server,
  };
}

async function serve(route: Route, view: View): Promise<void> {
  const { pathname } = new URL(route.request().url());
  if (pathname === '/') return route.fulfill({ contentType: 'text/html', body: pageFor(view) });
  if (pathname === '/app.js') return route.fulfill({ contentType: 'text/javascript', body: script });
  if (pathname.startsWith('/api/')) return forward(route, pathname);
  const font = FONTS[pathname.replace(/^.*\/fonts\/inter\//, '')];
  if (font !== undefined) return route.fulfill({ path: packaged(`@fontsource/inter/files/${font}`) });
  const [, image] = /\/build\/img\/(.*)$/.exec(pathname) ?? [];
  if (image === undefined) return route.fulfill({ status: 404 });
  const folder = dirname(packaged('@grafana/ui/package.json'));
  return route.fulfill({ path: join(folder, 'dist/public/img', image) });
}

function pageFor(view: View): string {
  const json = JSON.stringify(view).replaceAll('<', String.raw`\u003c`);
  return [
    `<!doctype html><meta charset="utf-8"><style>body { margin: 0 } ${style}</style>`,
    `<script>window.__grafana_public_path__ = '${ORIGIN}/public/'; window.view = ${json}</script>`,
    '<script type="module" src="/app.js"></script>',
  ].join('\n');
}

async function forward(route: Route, path: string): Promise<void> {
  const answer = await fetch(`${options.prometheus}${path}`, {
    method: 'POST',
    body: route.request().postData() ?? '',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  return route.fulfill({
    status: answer.status,
    contentType: 'application/json',
    body: await answer.text(),
  });
}

function packaged(file: string): string {
  return require.resolve(file);
}
