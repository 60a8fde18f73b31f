// Breaks one rule of the design at a time, in a temporary copy, and expects the named unit tests to fail:
//   npm run test:mutations            all
//   npm run test:mutations -- seat    those whose rule, or whose file's path, contains a word
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createVitest } from 'vitest/node';

const BLAME = ['src/panel/subjects.ts', 'panel/blame'];
const SIGNS = ['src/diagnosis/outcome.ts', 'diagnosis/outcome'];
const START = ['src/panel/scheduler/rules.ts', 'panel/start-at'];
const LIMIT = ['src/panel/scheduler/rate-limit.ts', 'panel/rate-limit'];
const RETRY = ['src/session/machine-model.ts', 'session/due'];
const NEEDS = ['src/fleet/needs.ts', 'fleet/needs'];
const PLAN = ['src/session/plan.ts', 'session/plan'];
const MACHINE = ['src/session/machine.ts', 'session/machine'];
const TOKEN = ['src/session/streamer.ts', 'session/token'];
const RECORD = ['src/fleet/server-record.ts', 'fleet/server-record'];
const SAMPLES = ['src/fleet/server-samples.ts', 'fleet/server-record'];
const RESTART = ['src/fleet/power.ts', 'fleet/restart'];
const ADDRESS = ['src/names/name-lookups.ts', 'names/socket-address'];
const PASSWORDS = ['src/http/passwords.ts', 'http/passwords'];

/** Each is a rule, its file with the tests in `test/unit` that hold it, what is found there exactly once, and its replacement. */
const MUTATIONS = [
  // Who is in trouble?
  ['a node needs three failing servers', BLAME, 'const SERVERS_NEEDED = 3;', 'const SERVERS_NEEDED = 2;'],
  ['a success of two minutes contradicts', BLAME, 'SUCCESS_LASTS_MS = 120_000', 'SUCCESS_LASTS_MS = 0'],
  ['a timeout of a node needs two servers', BLAME, 'length < Math.max(2, needed)', 'length < needed'],
  [
    "a timeout of a node needs another node's server that works",
    BLAME,
    'return worksSince(others, tally.failed) ? newest(tally.failed) : undefined;',
    'return others && newest(tally.failed);',
  ],
  [
    'a node in trouble the other way needs no proof',
    BLAME,
    'if (isBlamed(troubles, otherWay)) return newest(tally.failed);',
    '',
  ],
  ['a path needs servers of two nodes', BLAME, 'nodes.size >= 2 ||', 'nodes.size >= 1 ||'],
  [
    'a path needs another one that works',
    BLAME,
    'return worksElsewhere ? newest(failed) : undefined;',
    'return newest(failed);',
  ],
  ['consoles need the same cause', BLAME, '.filter((other) => other.problem.cause === problem.cause)', ''],
  ['a panel needs two rounds', BLAME, 'isRound ? 2 : 1', '1'],
  ['a refused key needs one round', BLAME, 'isRound ? 2 : 1', "subject === 'panel' ? 2 : 1"],
  ['a success since contradicts a failure of the panel', BLAME, '&& last.startedAt > provenAt)', ')'],
  [
    'blocked servers are no trial',
    BLAME,
    'if (problem !== undefined && isBlockedAlone(problem)) continue;',
    '',
  ],
  [
    'who never failed tries first',
    BLAME,
    'problem === undefined ? -1 : at',
    'problem === undefined ? 1e15 : at',
  ],
  ['trials are 15, 30 and 60 s apart', BLAME, '[15_000, 30_000, 60_000]', '[15_000, 60_000, 60_000]'],
  ['consoles are tried every five minutes', BLAME, '[300_000]', '[30_000]'],
  ['every second trial has new credentials', BLAME, 'trouble.trials % 2 === 1', 'trouble.trials < 0'],
  ['what a larger trouble explained says nothing', BLAME, '&& found.at <= until ?', '&& found.at < 0 ?'],
  ['a 429 says nothing', SIGNS, "  'rate_limited',\n", ''],
  ['missing descriptors count against nobody', SIGNS, "  'descriptors',\n", ''],
  [
    'a 409 about one server proves the panel',
    SIGNS,
    'isOfServer ? { ...WORKS, console: consoleSign }',
    'false ? WORKS',
  ],
  ['a 404 before the first success is a failure', SIGNS, 'isOfServer && isProven ?', 'isOfServer ?'],
  // When may this call start?
  ['80 % of the limit are used', LIMIT, 'PART_OF_LIMIT = 0.8;', 'PART_OF_LIMIT = 1;'],
  ['the limit is 60 until it is known', LIMIT, 'UNLEARNED_PER_MINUTE = 60;', 'UNLEARNED_PER_MINUTE = 240;'],
  ['of several limits the lowest counts', LIMIT, 'limit > before && now', 'limit < 0 && now'],
  ['earlier calls of the account count', LIMIT, 'call < earlier;', 'call < 0;'],
  ['the window', START, 'roomAt(allowance.starts, allowance.perMinute),', 'AT_ONCE,'],
  ['a 429 pauses', START, 'pausedUntil(allowance, path, server),', 'AT_ONCE,'],
  ['a call every 15 s if nothing is to spare', START, '=> allowance.spareAt,', '=> AT_ONCE,'],
  ['two credential calls a minute', START, 'TOKEN_CALLS = 2;', 'TOKEN_CALLS = 3;'],
  [
    'nothing but trials starts in trouble',
    START,
    '?.blamedAt !== undefined)) return NOT_YET',
    ')) return AT_ONCE',
  ],
  ['before the first canary, calls wait 3 s', START, 'FIRST_CALL_MS = 3_000;', 'FIRST_CALL_MS = 0;'],
  ['a seat: four polls of a node', START, 'SEATS_PER_NODE = 4;', 'SEATS_PER_NODE = 5;'],
  ['a seat: three of nodes in doubt', START, 'SEATS_IN_DOUBT = 3;', 'SEATS_IN_DOUBT = 4;'],
  ['a seat is freed after 3 s', START, 'SEATED_MS = 3_000;', 'SEATED_MS = 20_000;'],
  ['eight calls in flight', START, 'PLACES = 8;', 'PLACES = 9;'],
  ['only trials take from their part', START, '(one) => one.isTrial', '() => true'],
  ['trials take a tenth', START, 'TRIAL_SHARE = 0.1;', 'TRIAL_SHARE = 0.5;'],
  ['polls take 90 % of the rest', NEEDS, 'POLL_SHARE = 0.9;', 'POLL_SHARE = 0.5;'],
  // The session
  [
    'events of older sockets are ignored',
    MACHINE,
    "if ('epoch' in event && event.epoch !== state.epoch)",
    'if (false)',
  ],
  [
    'a reused token that is refused is replaced',
    MACHINE,
    "if (state.name === 'authenticating' && state.reused && (!isJwtError || event.fixable))",
    'if (false)',
  ],
  ['a token that lives is reused', MACHINE, 'context.now > REUSE_MARGIN_MS', 'context.now < 0'],
  ['a moved server reconnects', MACHINE, 'if (next.socketUrl !== state.token.socketUrl)', 'if (false)'],
  [
    'a minute of streaming forgets failures',
    RETRY,
    'STABLE_AFTER_MS = 60_000;',
    'STABLE_AFTER_MS = 0;',
    'session/machine',
  ],
  [
    'a server that only waits is not polled',
    PLAN,
    'return sampledAt === undefined ? undefined : machine.since + FALLBACK_AFTER_MS;',
    'return overdueFrom;',
  ],
  ['a blocked server is retried slowly', RETRY, 'SLOW_RETRY_MS = 5 * 60_000;', 'SLOW_RETRY_MS = 60_000;'],
  ['a refresh is from 75 % of a life on', TOKEN, 'REFRESH = { from: 0.75,', 'REFRESH = { from: 0.5,'],
  ['the first refresh is anywhere', TOKEN, 'FIRST_REFRESH_FROM = 0.1;', 'FIRST_REFRESH_FROM = 0.75;'],
  // Samples and metrics
  [
    'a stale sample is no data',
    RECORD,
    'return now - samples.newest.receivedAt <= this.#stalenessMs;',
    'return true;',
  ],
  ['a stop that a restart hid is known as such', RESTART, 'before.isRestored || undefined', 'undefined'],
  [
    'counters are 0 in the first scrape after a restart',
    ['src/fleet/server-record.ts', 'fleet/restart'],
    'return { ...snapshot, starts_total: 0, stops: NO_STOPS };',
    'return snapshot;',
  ],
  ['a sample of before is refused', RECORD, "if (order === 'older') return;", ''],
  ['counters do not decrease', SAMPLES, 'if (mayReset || !isLower ||', 'if (true ||'],
  ['a frozen node has no data', SAMPLES, 'if (this.isFrozen) return false;', ''],
  [
    'unlimited is absent',
    ['src/domain/server.ts', 'domain/server'],
    "typeof limit === 'number' && limit > 0",
    "typeof limit === 'number'",
  ],
  // Strangers
  [
    'no socket without TLS',
    ADDRESS,
    "if (url.protocol === 'ws:' && !policy.allowInsecure",
    "if (url.protocol === 'x:' && !policy.allowInsecure",
  ],
  [
    'no socket to a metadata service',
    ADDRESS,
    'if (!isMetadataAddress(unbracketed(host))) return undefined;',
    'return undefined;',
  ],
  ['eight wrong passwords a minute', PASSWORDS, 'MAX_WRONG = 8;', 'MAX_WRONG = 9;'],
  ['64 checks of passwords wait', PASSWORDS, 'MAX_WAITING = 64;', 'MAX_WAITING = 65;'],
  [
    'secrets are redacted in URLs, too',
    ['src/domain/secrets.ts', 'domain/secrets'],
    'encodeURIComponent(encodable), json]',
    'json]',
  ],
];

const REPOSITORY = fileURLToPath(new URL('..', import.meta.url));
const copy = mkdtempSync(join(tmpdir(), 'mutations-'));

/** Runs these tests in the copy, with what was already transformed of the other files. */
async function passes(tests) {
  const specifications = await vitest.globTestSpecifications(tests.map((name) => `test/unit/${name}`));
  if (specifications.length === 0) throw new Error(`there are no tests ${tests.join()}`);
  const { testModules } = await vitest.runTestSpecifications(specifications);
  return testModules.every((module) => module.ok());
}

/** Why a mutation isn't caught; undefined if it is. */
async function escape([, [path, ownTests], find, replacement, tests = ownTests]) {
  const file = join(copy, path);
  const text = readFileSync(file, 'utf8');
  if (text.split(find).length !== 2) return `${path} doesn't contain exactly once: ${find}`;
  const write = (changed) => {
    writeFileSync(file, changed);
    vitest.invalidateFile(file);
  };
  write(text.replace(find, () => replacement));
  const isMissed = await passes([tests]);
  write(text);
  return isMissed ? `test/unit/${tests} passes without it` : undefined;
}

for (const part of ['src', 'test', 'bench', 'scripts', 'package.json', 'tsconfig.json', 'vitest.config.ts'])
  cpSync(join(REPOSITORY, part), join(copy, part), { recursive: true });
for (const part of ['node_modules', 'dist', 'docs', 'deploy'])
  symlinkSync(resolve(REPOSITORY, part), join(copy, part));
process.chdir(copy);
const quiet = { onTestRunEnd: () => undefined };
const vitest = await createVitest('test', {
  root: copy,
  config: false,
  include: ['test/unit/**/*.test.ts'],
  setupFiles: ['test/support/unit-guard.ts', 'test/support/forget-secrets.ts'],
  watch: false,
  testTimeout: 240_000,
  reporters: [quiet],
  bail: 1,
});

const [word = ''] = process.argv.slice(2);
const chosen = MUTATIONS.filter(([rule, [path]]) => rule.includes(word) || path.includes(word));
let escaped = 0;
try {
  const suites = new Set(chosen.map(([, [, ownTests], , , tests = ownTests]) => tests));
  if (!(await passes([...suites]))) throw new Error('the tests fail without a mutation: repair them first');
  for (const mutation of chosen) {
    const why = await escape(mutation);
    if (why !== undefined) escaped += 1;
    console.log(why === undefined ? 'caught ' : 'ESCAPED', mutation[0], why === undefined ? '' : `(${why})`);
  }
} finally {
  await vitest.close();
  process.chdir(REPOSITORY);
  rmSync(copy, { recursive: true });
}
console.log(`${chosen.length - escaped} of ${chosen.length} mutations caught`);
process.exitCode = escaped === 0 ? 0 : 1;
