// Plays an evening of trouble for docs/alerts.md, in real time (27 minutes).
//
// Two exporters monitor simulated panels, which are both named main. Prometheus has the shipped
// rules, and Alertmanager the shipped routes for Discord. Prints each notification as a row of the
// table in the docs: its time, its receiver, and its text as Discord shows it. Prints to stderr
// what happens when, and since when the problem exists according to each notification.
//
// Requires `npm run build`, and prometheus and prometheus-alertmanager in the PATH.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const ROOT = new URL('..', import.meta.url);
const CLI = fileURLToPath(new URL('dist/cli.js', ROOT));
const KEY = 'ptlc_simulated0panel0key0for0demo0and0tests0only';
const RUNBOOKS = 'https://git.example.com/gameserver-exporter/blob/v1.0.0';

const folder = await mkdtemp(join(tmpdir(), 'evening-'));
const programs = new Set();
process.once('exit', () => {
  for (const program of programs) program.kill();
});

function run(command, args, stdout = 'ignore') {
  const program = spawn(command, args, { cwd: folder, stdio: ['ignore', stdout, 'ignore'] });
  programs.add(program);
  program.once('exit', (code) => {
    if (programs.delete(program)) throw new Error(`${command} ended with exit code ${code}`);
  });
  return program;
}

async function end(program) {
  programs.delete(program);
  program.kill('SIGTERM');
  if (program.exitCode === null) await once(program, 'exit');
}

/**
 * The labels of servers at a host. Customers pay for important servers, and the customer acme has a
 * channel of its own.
 */
const AT_A_HOST = {
  survival: '{ importance: high }',
  'modded-beta': '{ customer: acme }',
  lobby: '{ customer: acme, importance: high }',
};

/** The labels of servers at home, where every server is important. */
const AT_HOME = { '': '{ importance: high }' };

/**
 * Starts a panel on this port, its control endpoint on the next one, and its exporter on the one
 * after that.
 */
async function startSite(port, servers, seed, labels) {
  const site = { url: `http://127.0.0.1:${port + 2}`, file: join(folder, `${port}.yaml`) };
  const control = port + 1;
  const ports = [`--web.listen-address=127.0.0.1:${port}`, `--control-port=${control}`];
  const size = [`--servers=${servers}`, `--seed=${seed}`];
  const panel = run(process.execPath, [CLI, 'simulate', ...ports, ...size], 'pipe');
  const [printed] = await once(panel.stdout, 'data');
  const labeled = String(printed).replaceAll(/^ {8}name: "(.+)"$/gm, (line, name) => {
    const own = labels[name] ?? labels[''];
    return own === undefined ? line : `${line}\n        labels: ${own}`;
  });
  await writeFile(site.file, labeled.replace('name: simulated', 'name: main'));
  site.control = async (operation, body) => {
    const address = `http://127.0.0.1:${control}/control/${operation}`;
    const response = await fetch(address, { method: 'POST', body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${operation}: ${await response.text()}`);
  };
  site.start = () => {
    const flags = [`--web.listen-address=127.0.0.1:${port + 2}`, `--web.external-url=${site.url}`];
    site.exporter = run(process.execPath, [
      CLI,
      'serve',
      '--storage.path=',
      `--config=${site.file}`,
      ...flags,
    ]);
  };
  site.start();
  return site;
}

const timeOf = (seconds) => new Date(seconds * 1_000).toISOString().slice(11, 19);

/** A time relative to now, as Discord shows it. */
function ago(seconds) {
  const minutes = Math.round((Date.now() / 1_000 - seconds) / 60);
  return minutes === 1 ? 'a minute ago' : `${minutes} minutes ago`;
}

/** A text as Discord shows it. Addresses are marked as code, because they aren't real. */
function shown(description) {
  return description
    .trim()
    .replaceAll(/\s*\n/g, '<br>')
    .replaceAll(/<t:(\d+):R>/g, (_, seconds) => ago(Number(seconds)))
    .replaceAll(/<t:(\d+):t>/g, (_, seconds) => timeOf(Number(seconds)).slice(0, 5))
    .replaceAll(/\[(\w+)\]\([^)]*\)/g, '*$1*')
    .replaceAll(/http:\S+[\w/]/g, '`$&`');
}

async function print(request, response) {
  const { embeds } = await json(request);
  for (const { title, description } of embeds) {
    const time = timeOf(Date.now() / 1_000);
    const since = description.match(/<t:(\d+)/)?.[1];
    console.log(`| ${time} | ${request.url.slice(1)} | ${title} | ${shown(description)} |`);
    console.error(`${time} ${title}: since ${since === undefined ? 'unknown' : timeOf(since)}`);
  }
  response.end();
}

/** Receives the notifications in place of Discord. */
const discord = createServer((request, response) => void print(request, response));

/** Adds a route for a customer's own channel, as in docs/alerts.md. */
function withChannelOfCustomer(routes) {
  const customer = `
    - receiver: acme
      matchers: ['customer = acme', 'server_id != ""']
      group_by: ['...']
      group_wait: 10s
      group_interval: 15s
      continue: true`;
  const page = /  - name: page\n[^]*?(?=  - name: )/.exec(routes)?.[0] ?? '';
  const receiver = page.replace('name: page', 'name: acme').replaceAll('/page', '/acme');
  return routes.replace(/\n {2}routes:/, `$&${customer}`).replace('receivers:\n', `$&${receiver}`);
}

async function startAlerting(targets) {
  discord.listen(21490, '127.0.0.1');
  await cp(new URL('deploy/', ROOT), folder, { recursive: true });
  const rules = join(folder, 'prometheus/rules/gameserver.yml');
  await writeFile(rules, (await readFile(rules, 'utf8')).replace("runbooks: ''", `runbooks: '${RUNBOOKS}'`));
  const routes = join(folder, 'alertmanager/discord.yml');
  // Alertmanager 0.25, the version in Debian, can't read the address from a file.
  let receiver = '';
  const withAddress = (await readFile(routes, 'utf8')).replaceAll(
    /( {2}- name: (\w+)\n)|webhook_url_file: .*/g,
    (text, line, name) => {
      receiver = name ?? receiver;
      return line ?? `webhook_url: http://127.0.0.1:21490/${receiver}`;
    },
  );
  await writeFile(routes, withChannelOfCustomer(withAddress));
  const prometheus = join(folder, 'prometheus/prometheus.yml');
  const scraped = (await readFile(prometheus, 'utf8'))
    .replace('localhost:9093', '127.0.0.1:21492')
    .replace("'localhost:10317'", targets.map((url) => `'${new URL(url).host}'`).join(', '));
  await writeFile(prometheus, scraped);
  run('prometheus-alertmanager', [
    `--config.file=${routes}`,
    `--storage.path=${join(folder, 'alerts')}`,
    '--web.listen-address=127.0.0.1:21492',
    '--cluster.listen-address=',
  ]);
  run('prometheus', [
    `--config.file=${prometheus}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    '--web.listen-address=127.0.0.1:21491',
  ]);
}

const first = await startSite(21400, 12, 1, AT_A_HOST);
const second = await startSite(21410, 4, 2, AT_HOME);
await startAlerting([first.url, second.url]);

const startedAt = performance.now();

/** Waits until this many minutes after the start, and prints what happens then. */
async function minute(minutes, what) {
  await wait(Math.max(0, startedAt + minutes * 60_000 - performance.now()));
  console.error(`${timeOf(Date.now() / 1_000)} ${what}`);
}

// The simulated panel has trouble of its own: factorio crashes twice within a minute, modded-beta
// crashes every 90 seconds, the disk of valheim-1 fills after five minutes, rust-weekly runs out of
// memory after ten, and a backup of survival fails.
await minute(2, 'somebody stops lobby');
await first.control('servers/lobby/power', { action: 'stop' });
await minute(3, 'survival crashes');
await first.control('servers/survival/crash', { exit: { code: 134 } });
await minute(3.6, 'the first exporter is restarted');
await end(first.exporter);
first.start();
await minute(4, 'the second panel is down');
await second.control('listening', { listening: false });
await minute(7, 'the first panel moves terraria, valheim-2 and rust-weekly to another node');
const moved = ['terraria', 'valheim-2', 'rust-weekly'];
for (const server of moved) await first.control(`servers/${server}/move`, {});
await minute(8, 'the second panel is up again, somebody starts lobby');
await second.control('listening', { listening: true });
await first.control('servers/lobby/power', { action: 'start' });
await minute(9, 'the other node is down');
for (const server of moved) await first.control(`servers/${server}/node-down`, { down: true });
await minute(9.2, 'half of the first node is unreachable');
const half = ['survival', 'creative', 'skyblock', 'lobby', 'event-arena'];
for (const server of half) await first.control(`servers/${server}/node-down`, { down: true });
await minute(10, 'the key of the second panel is revoked');
await second.control('keys/revoke', { key: KEY });
await minute(14, 'both nodes are up again, and the key is accepted');
for (const server of [...moved, ...half]) await first.control(`servers/${server}/node-down`, { down: false });
await second.control('keys/accept', { key: KEY });
await minute(16, 'five servers crash and stay off');
await first.control('settings', { crashDetection: false });
const crashed = ['survival', 'creative', 'skyblock', 'lobby', 'terraria'];
for (const server of crashed) await first.control(`servers/${server}/crash`, { exit: { code: 1 } });
await first.control('settings', { crashDetection: true });
await minute(17, 'the second exporter is to reload an invalid configuration');
const valid = await readFile(second.file, 'utf8');
await writeFile(second.file, `${valid}\ntypo: true\n`);
second.exporter.kill('SIGHUP');
await minute(20, 'somebody starts them');
for (const server of crashed) await first.control(`servers/${server}/power`, { action: 'start' });
await minute(21, 'the configuration is corrected');
await writeFile(second.file, valid);
second.exporter.kill('SIGHUP');
await minute(21.5, 'both exporters are down');
await end(first.exporter);
await end(second.exporter);
await minute(25.5, 'both exporters run again');
first.start();
second.start();
await minute(27.5, 'the end');

discord.close();
await Promise.all([...programs].map(end));
await rm(folder, { recursive: true });
