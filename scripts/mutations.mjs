// Breaks one rule of the design at a time in a temporary copy, and expects its unit tests to fail:
//   npm run test:mutations            all rules
//   npm run test:mutations -- seat    rules that contain the word, or whose file's path does
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A file of `src`, and the unit tests of its rules. */
const file = (path, tests = path) => [`src/${path}.ts`, tests];

const LEDGER = file('panel/health/ledger');
const OUTCOMES = file('panel/health/last-outcomes');
const EVIDENCE = file('panel/health/server-evidence');
const SUSPICION = file('panel/health/suspicion');
const TALLIES = file('panel/health/tallies');
const BLAME = file('panel/health/blame');
const OUTCOME = file('panel/health/outcome');
const CANDIDATES = file('panel/health/candidates');
const TALLY = file('panel/health/tally');
const GROUP = file('panel/health/evidence-group');
const HEAP = file('panel/heap');
const HOLDS = file('panel/health/holds');
const REFUSALS = file('panel/health/refusal-watch');
const HEALTH = file('panel/health/health');
const SOCKET_TRIALS = file('panel/health/socket-trials');
const CANARIES = file('panel/health/canaries');
const SIGNS = file('diagnosis/signs');
const RULES = file('panel/scheduler/start-rules');
const LIMIT = file('panel/scheduler/rate-limit');
const PERIOD = file('panel/limit-period');
const WINDOW = file('panel/scheduler/sliding-window');
const LINES = file('panel/scheduler/call-lines');
const GATES = file('panel/scheduler/gates');
const HISTORY = file('panel/scheduler/call-history');
const SCHEDULER = file('panel/scheduler/scheduler');
const SHORTAGE = file('panel/scheduler/shortage');
const RETRY = file('session/backoff');
const POLL_PACE = file('fleet/poll-pace');
const PLAN = file('session/poll-plan', 'session/plan');
const MACHINE = file('session/machine');
const STEPS = file('session/machine-steps', 'session/machine');
const RENEWALS = file('session/token-renewal');
const RENEWED = file('session/token-renewal', 'session/machine');
const TOKEN = file('session/token-request', 'session/session');
const RECORD = file('fleet/server-record');
const SAMPLES = file('fleet/server-samples', 'fleet/server-record');
const RESTART = file('fleet/stop-decisions', 'fleet/kept-power');
const OUTDATED = file('session/outdated-failure');
const CONDITION = file('session/condition', 'fleet/panel-fleet');
const ADDRESS = file('addresses/socket-policy');
const PASSWORDS = file('http/passwords');

/**
 * Each mutation has a rule, its file with the tests in `test/unit`, a text that the file contains
 * exactly once, the replacement, and other tests if those of the file don't cover the rule.
 */
export const MUTATIONS = [
  // Rules about outages
  ['a node needs three failing servers', SUSPICION, 'const SERVERS_NEEDED = 3;', 'const SERVERS_NEEDED = 2;'],
  ['a success of two minutes contradicts', LEDGER, 'SUCCESS_LASTS_MS = 120_000', 'SUCCESS_LASTS_MS = 0'],
  [
    'an outage explains failures as soon as it ends',
    LEDGER,
    '    this.#explain();\n',
    '    queueMicrotask(() => this.#explain());\n',
  ],
  ['what is explained is no failure of the panel', EVIDENCE, '      !isExplained &&\n', ''],
  ['a panel that never worked before explains failures', LEDGER, ' || !hasWorkedBefore', ''],
  [
    'a contradiction ends by time alone',
    LEDGER,
    'if ((this.#contradicted.firstRank ?? 0) > now) break;',
    'break;',
  ],
  ['a timeout of a node needs two servers', SUSPICION, 'failed < Math.max(2, needed)', 'failed < needed'],
  [
    "a timeout of a node needs another node's server that works",
    SUSPICION,
    'return worksAt > tally.failedAt ?',
    'return tally.failed > 0 ?',
  ],
  [
    "another node's server that works later proves it, too",
    TALLIES,
    'if (tally.node !== key) this.changed(tally);',
    'void tally;',
  ],
  [
    'a node with an outage the other way needs no proof',
    SUSPICION,
    'if (isBlamed(isSockets ? pollsSubject(node) : socketsSubject(node))) return tally.newestProblem();',
    '',
  ],
  [
    "a token's 5xx is a failure of the node's sockets",
    OUTCOMES,
    "token?.signs.node === 'may fail' &&",
    'false &&',
  ],
  ['a path needs servers of two nodes', SUSPICION, 'failingGroups >= 2 ||', 'failingGroups >= 1 ||'],
  [
    'a path needs another one that works',
    SUSPICION,
    'return worksSince(known, tally.failsSince, channel) ? tally.newestProblem() : undefined;',
    'return tally.newestProblem();',
  ],
  ['the server list needs one failure', SUSPICION, "!isOfSeveral && channel !== 'listing'", '!isOfSeveral'],
  [
    'a node with an outage explains failures on its paths',
    TALLIES,
    'if (this.#isBlamed(subject) || this.#isBlamed(other)) this.#explained.add(node);\n    else this',
    'this',
  ],
  [
    'consoles need the same cause',
    EVIDENCE,
    'const cause = last?.problem?.cause;',
    'const cause = undefined;',
  ],
  [
    'a server that streams was granted its console',
    OUTCOMES,
    'streams && this.#asked.websocket > 0',
    'false',
  ],
  [
    'a success since contradicts a failure of the panel',
    TALLIES,
    'if (first.outcome.startedAt > provenAt) return;',
    'return;',
  ],
  [
    'a path needs three failures',
    SUSPICION,
    'if (failed < Math.min(SERVERS_NEEDED, counted)) return undefined;',
    '',
  ],
  ['a path needs two servers', SUSPICION, 'failed >= 2 && (', '('],
  ['servers of unknown nodes are of several', SUSPICION, ' || tally.isFailing(undefined)', ''],
  [
    'all servers of a path suffice, on one node, too',
    SUSPICION,
    '(isOfNodes || failed === counted)',
    'isOfNodes',
  ],
  ['a path proves nothing against itself', SUSPICION, 'path !== but && ', ''],
  ['a call that was under way proves nothing', SUSPICION, '?? NEVER) > since', '?? NEVER) >= since'],
  ['nor does one elsewhere prove a node', SUSPICION, 'worksAt > tally.failedAt', 'worksAt >= tally.failedAt'],
  [
    'nor does one that came before the last failure',
    SUSPICION,
    'worksAt > tally.failedAt',
    'worksAt > tally.failsSince',
  ],
  [
    'failures that the panel could cause need proof',
    SUSPICION,
    "tally.failedIn('fails') >= needed",
    'tally.failed >= needed',
  ],
  [
    'sockets fail where tokens are asked for',
    SUSPICION,
    "channel === 'sockets' ? 'websocket' : channel",
    'channel',
  ],
  ['consoles need two servers', SUSPICION, 'Math.max(2, Math.min(SERVERS_NEEDED, tally.counted))', '1'],
  [
    'consoles need a panel that has accepted the key since',
    SUSPICION,
    'first !== undefined && provenAt >= first.failsSince',
    'first !== undefined',
  ],
  [
    'of causes that deny consoles, the first counts',
    SUSPICION,
    'group.failsSince < first.failsSince',
    'group.failsSince > first.failsSince',
  ],
  [
    'of causes since one instant, the first in order',
    SUSPICION,
    'String(group.key) < String(first?.key)',
    'String(group.key) > String(first?.key)',
  ],
  ['the panel is decided without servers', TALLIES, "    this.of('panel');\n", ''],
  [
    'an outcome that is gone is decided',
    TALLIES,
    'tally.remove(evidence);\n    this.changed(tally);',
    'tally.remove(evidence);',
  ],
  ['a node with servers is kept', TALLIES, 'tally.servers === 0 && ', ''],
  ['a proof that is not awaited any more', TALLIES, 'unproven?.delete(tally);', 'void unproven;'],
  [
    "an outage of sockets concerns the node's polls",
    TALLIES,
    "subject.startsWith('sockets ') ? pollsSubject(node) : socketsSubject(node)",
    'socketsSubject(node)',
  ],
  ['an outage of a node changes what is explained', TALLIES, 'tally.explanationChanged(node);', ''],
  ['excused failures are not the panel’s either', TALLIES, "this.of('panel').excuse(path);", ''],
  ['only what the path may explain is excused', TALLIES, "tally.excuse('may fail')", 'tally.excuse()'],
  ['sockets that stream are not forgotten', OUTCOMES, 'at <= now && streams !== true', 'at <= now'],
  ['failures are forgotten first', OUTCOMES, 'at <= now && problem !== undefined', 'false'],
  ['a proof concerns the consoles', LEDGER, "this.tallies.touch('consoles');", ''],
  ['a granted console proves nothing for paths', TALLIES, "subject === 'consoles' || ", ''],
  ["a node's success proves nothing for paths", TALLIES, 'node !== undefined || channel', 'channel'],
  [
    'any success ends an outage',
    LEDGER,
    '(worksAt > outage.suspectedAt || tally.contradictedAt >= outage.suspectedAt)',
    'worksAt > 1e15',
  ],
  [
    'a known refusal ends no suspicion',
    LEDGER,
    '(worksAt > outage.suspectedAt',
    '(worksAt >= outage.suspectedAt',
  ],
  ['an outage ends with its last server', LEDGER, 'isOfNobody || hasWorked', 'hasWorked'],
  [
    'what a larger outage explained says nothing',
    EVIDENCE,
    'found.at <= this.#facts.explainedUntil(path);',
    'found.at < 0;',
  ],
  [
    'a panel that was only suspected explains nothing',
    LEDGER,
    "subject !== 'panel' || blamedAt !== undefined",
    'true',
  ],
  [
    'what ended is not tried again at once',
    LEDGER,
    'triedAt === undefined ? now : triedAt + trialGapMs(subject, 0)',
    'now',
  ],
  ['a panel needs two rounds', BLAME, 'isRound ? 2 : 1', '1'],
  ['a refused key needs one round', BLAME, 'isRound ? 2 : 1', "subject === 'panel' ? 2 : 1"],
  ['a trial that proved nothing is no failed one', BLAME, '(problem === undefined ? 0 : 1)', '1'],
  ['trials are 15, 30 and 60 s apart', BLAME, '[15_000, 30_000, 60_000]', '[15_000, 60_000, 60_000]'],
  ['the panel and sockets are tried after 15, then 25 s', BLAME, '[15_000, 25_000]', '[15_000, 60_000]'],
  ['another cause of a path is tried soon', BLAME, 'isOther ? 1 : trials', 'trials'],
  ['consoles are tried every five minutes', BLAME, '[300_000]', '[30_000]'],
  [
    'a trial comes a gap after the start of the last',
    BLAME,
    'outage.trial.since + trialGapMs(',
    'now + trialGapMs(',
  ],
  ['every second trial has new credentials', BLAME, 'outage.trials % 2 === 1', 'outage.trials < 0'],
  [
    'a recovery wakes servers that show its cause as another one',
    CONDITION,
    "return cause === 'not_found' ? [cause, UNKNOWN_PATH] : [cause];",
    'return [cause];',
  ],
  ['a list that was never read lacks no server', OUTDATED, ' || seen.listedAt === NEVER;', ';'],
  [
    'another key or way outdates all failures',
    OUTDATED,
    'const ends = [seen.accessedAnewAt];',
    'const ends = [NEVER];',
  ],
  ['blocked servers are no trial', CANDIDATES, 'problem !== undefined && isBlockedAlone(problem)', 'false'],
  [
    'what the path may cause blocks no server',
    CANDIDATES,
    "const isOwn = last?.signs.path !== 'fails';",
    'const isOwn = true;',
  ],
  ['who streams tries first', CANDIDATES, 'const STREAMS = -2;', 'const STREAMS = -1;'],
  [
    'who never failed tries before others',
    CANDIDATES,
    'const NEVER_FAILED = -1;',
    'const NEVER_FAILED = 1e15;',
  ],
  [
    'who failed least recently tries next',
    CANDIDATES,
    'problem === undefined ? undefined : last?.at;',
    'problem === undefined ? undefined : 1e15 - last?.at;',
  ],
  [
    'who streams is no better where others of its node fail',
    CANDIDATES,
    'return this.failing === 0 ?',
    'return true ?',
  ],
  [
    'a node failed when the last of its servers did',
    CANDIDATES,
    'Math.max(failedAt, pool.failedAt)',
    'Math.min(failedAt, pool.failedAt)',
  ],
  [
    'who is refused for a reason of its own says nothing about its node',
    CANDIDATES,
    'if (failedAt !== undefined && !isBlocked) {',
    'if (failedAt !== undefined) {',
  ],
  [
    'who failed in an outage of the panel tries after others',
    HEALTH,
    'if (isExplained) this.#outcomes.failedInOutage(channel, server, outcome.at);',
    'if (isExplained) return;',
  ],
  ['a node without servers is forgotten', CANDIDATES, 'this.#pools.delete(pool.node);', ''],
  ['equals try in random order', CANDIDATES, 'candidate.lot = this.#draw();', 'candidate.lot = 0;'],
  ['what is explained does not count', TALLY, 'if (group.isExplained) return;', ''],
  ['an explanation begins and ends', TALLY, 'group.isExplained = this.#isExplained(key);', ''],
  ['a success of its own node proves nothing', TALLY, 'if (group.key !== key && group', 'if (group'],
  ['a refusal contradicts no failure', TALLY, ' && group.key !== REFUSALS) return', ') return'],
  ['a socket that streams works all the time', OUTCOME, 'if (streams === true) return', 'if (false) return'],
  [
    'a response about a failure is as old as its call',
    OUTCOME,
    'problem === undefined ? at : startedAt',
    'at',
  ],
  [
    'and so is the proof that the panel works',
    HEALTH,
    'panelWorks(workedAt(outcome))',
    'panelWorks(outcome.at)',
  ],
  ['a failure that came earlier is not the last', GROUP, 'if (at > this.#newestAt) {', 'if (true) {'],
  ['a failure that is gone is not the last', GROUP, 'if (isHere) this.failureRemoved(evidence);', ''],
  ['excused failures are gone', GROUP, 'this.#failed = EMPTY;', ''],
  ['heaps of nothing are never filled', GROUP, 'if (this.#works === EMPTY) ', 'if (false) '],
  ['the first of a heap may leave it alone', HEAP, ' this.#first = undefined;\n    else', ' ;\n    else'],
  ['a decision knows the outage', LEDGER, 'tally.outage = outage;', ''],
  [
    'a server that moves counts there with all its outcomes',
    OUTCOMES,
    'for (const channel of CHANNELS) this.#count(server, channel);',
    "this.#count(server, 'websocket');",
  ],
  ['the problem is that of the last failure', TALLY, 'outcome.at > newest.at', 'outcome.at < newest.at'],
  [
    'nothing but trials starts during an outage',
    HOLDS,
    'if (blamed !== undefined) return',
    'if (blamed === null) return',
  ],
  ['before the first canary, calls wait 3 s', HOLDS, 'FIRST_CALL_MS = 3_000;', 'FIRST_CALL_MS = 0;'],
  ["a renewal doesn't need its node's sockets", HOLDS, '&& isRenewal !== true)', ')'],
  ['a trial is held by what is larger', HOLDS, ': subjects.slice(0, own);', ': [];'],
  ['three servers that begin to be refused', REFUSALS, 'const SERVERS = 3;', 'const SERVERS = 2;'],
  ['or all of them', REFUSALS, 'Math.min(SERVERS, asked)', 'SERVERS'],
  ['they begin within a minute', REFUSALS, 'WITHIN_MS = 60_000;', 'WITHIN_MS = 600_000;'],
  ['one look a minute', REFUSALS, 'LOOK_EVERY_MS = 60_000;', 'LOOK_EVERY_MS = 0;'],
  ['a refused server was not refused before', REFUSALS, ' || REFUSED.has(before)', ''],
  [
    'a panel that is down explains which calls fail',
    HEALTH,
    "const isExplained = isDown && channel !== 'sockets' && outcome.problem !== undefined;",
    'const isExplained = false;',
  ],
  [
    'the failure that raises a suspicion is no trial of it',
    [HEALTH[0], 'panel/health/trials'],
    '      hasTried();',
    '      this.#trials.sockets.take(server)();',
  ],
  [
    'a server that tries another node ends its trial',
    SOCKET_TRIALS,
    '    this.take(server)();\n    this.#trials.set',
    '    this.#trials.set',
  ],
  ['an outage is over at another address that names the node', HEALTH, 'isNamedByAddress ? undefined : ', ''],
  ['an outage is tried at another address', HEALTH, 'hastened(outage, this.#now)', 'outage'],
  [
    "a list that isn't missing proves the address",
    CANARIES,
    'const hasAddress =',
    'const hasAddress = false &&',
  ],
  ['a 429 says nothing', SIGNS, "  'rate_limited',\n", ''],
  ['missing descriptors count against nobody', SIGNS, "  'descriptors',\n", ''],
  [
    'a 409 about one server proves the panel',
    SIGNS,
    'isOfServer ? { ...WORKS, console: consoleSign }',
    'false ? WORKS',
  ],
  ['a 404 before the first success is a failure', SIGNS, 'isOfServer && isProven ?', 'isOfServer ?'],
  [
    "a server that the node doesn't know counts for the node's polls",
    SIGNS,
    "(isOfServer && cause === 'server_not_on_node')",
    'false',
  ],
  ['and for its sockets', SIGNS, "new Set(['no_stats', 'server_not_on_node'])", "new Set(['no_stats'])"],
  // Rules about the starts of calls
  ['80 % of the limit are used', LIMIT, 'PART_OF_LIMIT = 0.8;', 'PART_OF_LIMIT = 1;'],
  ['the limit is 60 until it is known', LIMIT, 'UNLEARNED_PER_MINUTE = 60;', 'UNLEARNED_PER_MINUTE = 240;'],
  ['of several limits the lowest counts', LIMIT, 'limit > before && now', 'limit < 0 && now'],
  ['earlier calls of the account count', LIMIT, 'call < earlier;', 'call < 0;'],
  ['the window', LIMIT, 'Math.max(this.windowAt, this.spareAt,', 'Math.max(this.spareAt,'],
  ['a call every 15 s if nothing is to spare', LIMIT, 'SPARE_WAIT_MS = 15_000;', 'SPARE_WAIT_MS = 0;'],
  ['after a pause, one call every 5 s', LIMIT, 'PROBE_MS = 5_000;', 'PROBE_MS = 0;'],
  ['a count that fell has not grown', PERIOD, 'more >= later.atLeast - earlier.atMost && ', ''],
  [
    'a count with calls of others has not only grown',
    PERIOD,
    ' && more <= later.atMost - earlier.atLeast',
    '',
  ],
  ['a low count may have begun anew', PERIOD, ' || earlier.used < MIN_USED', ''],
  ['a shorter window is noticed', PERIOD, 'if (more < 0) this.#beganAnew(earlier, later);', ''],
  ['responses take different times', PERIOD, ' - SLACK_MS)', ')'],
  ['a call of a minute ago is over', WINDOW, '<= now - this.#windowMs', '< now - this.#windowMs'],
  ['at least one call fits in', WINDOW, 'Math.max(1, Math.floor(most))', 'Math.floor(most)'],
  ['a 429 pauses a path', RULES, 'if (ofPath > now) return', 'if (ofPath < 0) return'],
  [
    "a 429 pauses a server's tokens",
    RULES,
    "path === 'websocket' ? limit.pausedUntil(path, server) : AT_ONCE",
    'AT_ONCE',
  ],
  [
    "a pause of a server's tokens delays the next",
    SCHEDULER,
    ' && this.#limit.tokensPausedUntil(server) <= this.#now',
    '',
  ],
  ['a delayed token is no first attempt', TOKEN, 'isNew && !isPolledMeanwhile', 'isNew'],
  ['two credential calls a minute', RULES, 'TOKEN_CALLS = 2;', 'TOKEN_CALLS = 3;'],
  [
    'what has an outage holds its calls',
    RULES,
    'if (hold === undefined) return FREE;',
    'if (hold) return FREE;',
  ],
  ['a seat: four polls of a node', RULES, 'SEATS_PER_NODE = 4;', 'SEATS_PER_NODE = 5;'],
  ['a seat: three of nodes in doubt', RULES, 'SEATS_IN_DOUBT = 3;', 'SEATS_IN_DOUBT = 4;'],
  ['a seat is freed after 3 s', RULES, 'SEATED_MS = 3_000;', 'SEATED_MS = 20_000;'],
  ['first connects: six of a node', RULES, 'FIRST_CONNECTS = 6;', 'FIRST_CONNECTS = 7;'],
  ['first connects: each for 3 s', RULES, 'FIRST_CONNECT_MS = 3_000;', 'FIRST_CONNECT_MS = 20_000;'],
  [
    'first connects: until one has streamed',
    RULES,
    'node === undefined || hasStreamed(node)) return FREE',
    'node === undefined) return FREE',
  ],
  [
    'first connects: no renewals',
    RULES,
    'isConnect(call) && call.isRenewal !== true &&',
    'isConnect(call) &&',
  ],
  [
    'first connects: no trials',
    RULES,
    'call.isRenewal !== true && call.tries() === undefined;',
    'call.isRenewal !== true;',
  ],
  ['lists take a quarter', RULES, 'LIST_SHARE = 0.25;', 'LIST_SHARE = 0.5;'],
  ['trials take a tenth', RULES, 'TRIAL_SHARE = 0.1;', 'TRIAL_SHARE = 0.5;'],
  ['only trials take from their part', RULES, 'return call.isRetry?.() === true &&', 'return'],
  ['what a 429 paused is no retry', RULES, ' && !limit.isPaused(call.path, call.server);', ';'],
  [
    'the check of a suspicion is no trial',
    RULES,
    'tries !== undefined && isBlamed(tries)',
    'tries !== undefined',
  ],
  ['in a shortage, half is for connects', RULES, 'SHARE_IN_SHORTAGE = 0.5;', 'SHARE_IN_SHORTAGE = 0.6;'],
  ['a shortage does not hold connects', RULES, '!isShort || isConnect(call) ||', '!isShort ||'],
  [
    'a shortage does not hold trials',
    RULES,
    ' || call.tries() !== undefined) return FREE;',
    ') return FREE;',
  ],
  ['eight calls in flight', RULES, 'PLACES = 8;', 'PLACES = 9;', 'panel/scheduler/scheduler'],
  ['canaries go first', LINES, 'if (isCanary(call)) return 0;', ''],
  ['trials go before deadlines', LINES, 'call.tries() === undefined ? 2 : 1;', '2;'],
  ['the earliest deadline goes first', LINES, '[urgency, call.deadline, order]', '[urgency, order]'],
  ['of equals, who waits longest', LINES, 'call.deadline, order]', 'call.deadline, -order]'],
  ['retries have lines of their own', LINES, "isRetry ? 'again' : ''", "''"],
  ['renewals have lines of their own', LINES, "isRenewal ? 'renews' : ''", "''"],
  ['a node holds connects and polls only', LINES, "path === 'websocket' || path === 'resources' ?", 'true ?'],
  [
    'a gate opens when its time is over',
    GATES,
    'for (const gate of this.#closed.takeUpTo(now)) this.#openGate(gate);',
    '',
  ],
  [
    'what a rule of its own server holds does not hold others',
    LINES,
    "if (gate === 'server') {",
    "if (gate === 'none') {",
  ],
  ['what the rate alone holds is the backlog', GATES, 'if (gate.isOpen || name === SHORTAGE) ', ''],
  [
    'retries are no connects of the backlog',
    LINES,
    '!isRetry && call.tries() === undefined',
    'call.tries() === undefined',
  ],
  ['few lines are looked at in one go', LINES, 'if (looks === LOOKS) {', 'if (looks < 0) {'],
  ['the others are looked at next', LINES, 'this.#goesOnAt = now;', '', 'panel/scheduler/scheduler'],
  ['credential calls count from their ends', HISTORY, 'token.at = now;', ''],
  ['calls that the panel did not count', HISTORY, 'calls.filter(({ isRejected }) => !isRejected)', 'calls'],
  [
    'a poll that began before the last response tells nothing',
    HISTORY,
    'else if (startedAt > (this.respondedAt.get(node) ?? 0))',
    'else',
  ],
  ['a renewal is no first connect', HISTORY, ' || call.isRenewal === true ||', ' ||'],
  [
    'a 429 of one server wakes no others',
    SCHEDULER,
    'this.#lines.gatesOpened();',
    'this.#lines.allOpened();',
  ],
  [
    "the end of a pause of a server's tokens wakes it",
    LIMIT,
    'if (ended.length > 0) this.#changed(server)',
    'if (ended.length > 0) this.#changed()',
    'panel/scheduler/scheduler',
  ],
  ['a first connect of 3 s ago is over', HISTORY, 'if (at + FIRST_CONNECT_MS > now) break;', 'break;'],
  ['a canary takes no place', SCHEDULER, 'const places = isCanary(call) ? 0 : 1;', 'const places = 1;'],
  ['the backlog is more than a minute carries', SHORTAGE, 'backlog > this.#limitPerMinute()', 'backlog > 0'],
  ['without connects there is no shortage', SHORTAGE, ' && this.#waiting.connects > 0;', ';'],
  ['an overbooked fleet has no shortage', SHORTAGE, 'return !this.isOverbooked && ', 'return '],
  ['connects that wait for a minute are a shortage', SHORTAGE, ' >= WINDOW_MS;', ' > 2 * WINDOW_MS;'],
  [
    'a wait for another rule is no wait for the rate',
    SHORTAGE,
    'connects === 0) this.#connectsSince',
    'connects < 0) this.#connectsSince',
  ],
  ['a node with an outage is in doubt', SCHEDULER, 'this.#history.streamed(node, false);', ''],
  ['polls take 90 % of the rest', POLL_PACE, 'POLL_SHARE = 0.9;', 'POLL_SHARE = 0.5;'],
  // Rules about sessions
  [
    'events of older sockets are ignored',
    MACHINE,
    "if ('epoch' in event && event.epoch !== state.epoch)",
    'if (false)',
  ],
  [
    'a reused token that is refused is replaced',
    RENEWED,
    "if (state.name === 'authenticating' && state.reused && (!isJwtError || event.fixable))",
    'if (false)',
  ],
  [
    'events withheld while a token is under way are remembered',
    RENEWALS,
    'return state.isWithheld === true ? state : { ...state, isWithheld: true };',
    'return state;',
  ],
  [
    'events withheld while it streams are remembered',
    RENEWALS,
    'return renew({ ...state, isWithheld: true }, context);',
    'return renew(state, context);',
  ],
  [
    'a refusal ends a socket whose events are withheld',
    RENEWALS,
    'if (state.isWithheld === true && lastingRefusal',
    'if (state.isWithheld === null && lastingRefusal',
  ],
  [
    'and none whose events are not',
    RENEWALS,
    'if (state.isWithheld === true && lastingRefusal',
    'if (lastingRefusal',
  ],
  ['a token that lives is reused', STEPS, 'context.now > REUSE_MARGIN_MS', 'context.now < 0'],
  ['a moved server reconnects', RENEWED, 'if (next.socketUrl !== state.token.socketUrl)', 'if (false)'],
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
  ['a renewal is from 75 % of a life on', RENEWALS, 'RENEWAL = { from: 0.75,', 'RENEWAL = { from: 0.5,'],
  ['the first renewal is anywhere', RENEWALS, 'FIRST_RENEWAL_FROM = 0.1;', 'FIRST_RENEWAL_FROM = 0.75;'],
  // Rules about samples and metrics
  [
    'a stale sample is no data',
    RECORD,
    'return now - samples.newest.receivedAt <= this.#stalenessMs;',
    'return true;',
  ],
  ['a stop that a restart hid is known as such', RESTART, 'before.isRestored || undefined', 'undefined'],
  [
    'counters are 0 in the first scrape after a restart',
    file('fleet/server-record', 'fleet/kept-power'),
    'return { ...snapshot, starts_total: 0, stops: NO_STOPS };',
    'return snapshot;',
  ],
  ['a sample of before is refused', RECORD, "if (order === 'older') return;", ''],
  ['counters do not decrease', SAMPLES, 'if (mayReset || !isLower ||', 'if (true ||'],
  ['a frozen node has no data', SAMPLES, 'if (this.isFrozen) return false;', ''],
  [
    'unlimited is absent',
    file('domain/limits'),
    "typeof limit === 'number' && limit > 0",
    "typeof limit === 'number'",
  ],
  // Rules about strangers
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
    file('text/redaction'),
    'encodeURIComponent(encodable), json]',
    'json]',
  ],
];

const REPOSITORY = fileURLToPath(new URL('..', import.meta.url));
/** Runs these tests in the copy. Unchanged files aren't transformed again. */
async function passes(vitest, tests) {
  const specifications = await vitest.globTestSpecifications(tests.map((name) => `test/unit/${name}`));
  if (specifications.length === 0) throw new Error(`there are no tests ${tests.join()}`);
  const { testModules } = await vitest.runTestSpecifications(specifications);
  // A test file whose worker died, for example for lack of memory, has neither passed nor failed.
  return testModules.every((module) => module.state() === 'passed');
}

/** Why a mutation isn't caught; undefined if it is. */
async function escape({ copy, vitest }, [, [path, ownTests], find, replacement, tests = ownTests]) {
  const file = join(copy, path);
  const text = readFileSync(file, 'utf8');
  if (text.split(find).length !== 2) return `${path} doesn't contain exactly once: ${find}`;
  const write = (changed) => {
    writeFileSync(file, changed);
    vitest.invalidateFile(file);
  };
  write(text.replace(find, () => replacement));
  const isMissed = await passes(vitest, [tests]);
  write(text);
  return isMissed ? `test/unit/${tests} passes without it` : undefined;
}

/** Tries the mutations whose rule or file path contains the word. */
async function run(word) {
  // Imported only here, because the unit tests need only the table.
  const { createVitest } = await import('vitest/node');
  const copy = mkdtempSync(join(tmpdir(), 'mutations-'));
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

  const chosen = MUTATIONS.filter(([rule, [path]]) => rule.includes(word) || path.includes(word));
  let escaped = 0;
  try {
    const suites = new Set(chosen.map(([, [, ownTests], , , tests = ownTests]) => tests));
    if (!(await passes(vitest, [...suites])))
      throw new Error('the tests fail without a mutation: repair them first');
    for (const mutation of chosen) {
      const why = await escape({ copy, vitest }, mutation);
      if (why !== undefined) escaped += 1;
      console.log(
        why === undefined ? 'caught ' : 'ESCAPED',
        mutation[0],
        why === undefined ? '' : `(${why})`,
      );
    }
  } finally {
    await vitest.close();
    process.chdir(REPOSITORY);
    rmSync(copy, { recursive: true });
  }
  console.log(`${chosen.length - escaped} of ${chosen.length} mutations caught`);
  process.exitCode = escaped === 0 ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await run(process.argv[2] ?? '');
