import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CAUSES } from '../../../src/diagnosis/causes.ts';
import { type CallEnd, type Evidence, judge, NO_EVIDENCE, weigh } from '../../../src/diagnosis/scope.ts';
import type { CauseCode } from '../../../src/domain/problem.ts';
import { API_ENDPOINTS, type ApiEndpoint } from '../../../src/domain/telemetry.ts';

const CODES = Object.keys(CAUSES) as CauseCode[];

const end = (
  endpoint: ApiEndpoint,
  subject: string,
  cause?: CauseCode,
  more: Partial<CallEnd> = {},
): CallEnd => ({
  endpoint,
  subject,
  problem: cause === undefined ? undefined : { cause, detail: `${cause} at ${subject}` },
  isVerification: false,
  fleetSize: 20,
  ...more,
});

/** The judgment after these calls; once the panel is down, it stays down. */
function after(...ends: readonly CallEnd[]) {
  let evidence: Evidence = NO_EVIDENCE;
  let judgment = judge(evidence, ends[0] ?? end('listing', ''));
  for (const one of ends) {
    judgment = judge(evidence, one);
    if (judgment.type === 'down') return judgment;
    ({ evidence } = judgment);
  }
  return judgment;
}

const servers = (count: number) => Array.from({ length: count }, (_, index) => `server-${index}`);

describe('the evidence of a call', () => {
  it.each<[ApiEndpoint, CauseCode | undefined, string]>([
    ['resources', undefined, 'proof'],
    ['websocket', 'no_console_permission', 'proof'],
    ['resources', 'suspended', 'proof'],
    ['resources', 'node_unreachable', 'proof'],
    ['listing', 'not_found', 'reached'],
    ['websocket', 'console_limit', 'reached'],
    ['resources', 'unauthorized', 'doubt'],
    ['resources', 'connection', 'decisive'],
    ['resources', 'node_silent', 'doubt'],
    ['websocket', 'timeout', 'decisive'],
    ['websocket', 'challenge_page', 'doubt'],
    ['listing', 'panel_error', 'doubt'],
    ['websocket', 'key_address', 'decisive'],
    ['listing', 'descriptors', 'nothing'],
    ['listing', 'clock_off', 'nothing'],
  ])('%s that ends with %s is %s', (endpoint, cause, weight) => {
    expect(weigh(endpoint, cause)).toBe(weight);
  });
});

describe('the panel is down', () => {
  it('if three servers cannot connect to it', () => {
    const judged = after(...servers(3).map((server) => end('websocket', server, 'connection')));
    expect(judged).toMatchObject({ type: 'down', problem: { cause: 'connection' } });
  });

  it('if three servers and the verification call hit a firewall', () => {
    const challenged = servers(3).map((server) => end('websocket', server, 'challenge_page'));
    expect(after(...challenged)).toMatchObject({
      type: 'healthy',
      evidence: { isDoubtful: true, doubt: { cause: 'challenge_page' } },
    });
    const verification = end('listing', '', 'challenge_page', { isVerification: true });
    expect(after(...challenged, verification)).toMatchObject({
      type: 'down',
      problem: { cause: 'challenge_page' },
    });
  });

  it('if its only server has connection trouble', () => {
    expect(after(end('resources', 'only', 'dns', { fleetSize: 1 }))).toMatchObject({ type: 'down' });
  });

  it('if its key is rejected for all servers, even if no listing can confirm that', () => {
    const refused = servers(3).map((server) => end('websocket', server, 'unauthorized'));
    const verification = end('listing', '', 'not_found', { isVerification: true });
    expect(after(...refused, verification)).toMatchObject({
      type: 'down',
      problem: { cause: 'key_refused' },
    });
  });

  it('if its key is limited to other addresses', () => {
    const refused = servers(3).map((server) => end('resources', server, 'key_address'));
    expect(after(...refused)).toMatchObject({ type: 'down', problem: { cause: 'key_address' } });
  });
});

describe('the panel is not down', () => {
  it('if a node is dead and its resources time out, but the listing answers', () => {
    const late = servers(5).map((server) => end('resources', server, 'node_silent'));
    expect(after(...late)).toMatchObject({ evidence: { isDoubtful: true } });
    expect(after(...late, end('listing', '', undefined, { isVerification: true }))).toEqual({
      type: 'healthy',
      evidence: NO_EVIDENCE,
    });
  });

  it('if a firewall blocks one path, but another path works', () => {
    const blocked = servers(9).map((server) => end('websocket', server, 'challenge_page'));
    const passing = end('listing', '', undefined, { isVerification: true });
    expect(after(...blocked, passing)).toMatchObject({ type: 'healthy' });
  });

  it('if consoles of servers are rejected with 401, but the listing accepts the key', () => {
    const refused = servers(9).map((server) => end('websocket', server, 'unauthorized'));
    expect(after(...refused, end('listing', '', undefined, { isVerification: true }))).toMatchObject({
      type: 'healthy',
    });
  });
});

const calls = fc.array(
  fc.record({
    endpoint: fc.constantFrom(...API_ENDPOINTS),
    subject: fc.constantFrom(...servers(6)),
    cause: fc.option(fc.constantFrom(...CODES), { nil: undefined }),
    isVerification: fc.boolean(),
  }),
  { maxLength: 30 },
);

describe('for any sequence of calls', () => {
  it('causes that do not escalate never mark the panel as down', () => {
    const harmless = CODES.filter((code) => code !== 'unauthorized' && !CAUSES[code].escalates);
    fc.assert(
      fc.property(calls, fc.infiniteStream(fc.constantFrom(...harmless)), (ends, causes) => {
        const judged = after(
          ...ends.map(({ endpoint, subject, isVerification }) =>
            end(endpoint, subject, causes.next().value as CauseCode, { isVerification }),
          ),
        );
        expect(judged.type).toBe('healthy');
      }),
    );
  });

  it('a success discards all evidence against the panel', () => {
    fc.assert(
      fc.property(calls, fc.constantFrom(...API_ENDPOINTS), (ends, endpoint) => {
        const open = ends.filter(({ isVerification }) => !isVerification);
        const before = open.map(({ subject, cause }) => end('resources', subject, cause));
        const judged = after(...before, end(endpoint, 'server-0'));
        expect(judged.type === 'down' || judged.evidence === NO_EVIDENCE).toBe(true);
      }),
    );
  });

  it('calls that wait for a node never mark the panel as down by themselves, unless connections fail or the key is rejected', () => {
    const slow = CODES.filter((code) => weigh('resources', code) !== 'decisive');
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom(...servers(9)), fc.constantFrom(...slow))), (ends) => {
        const judged = after(end('listing', ''), ...ends.map(([s, cause]) => end('resources', s, cause)));
        expect(judged.type).not.toBe('down');
      }),
    );
  });

  it('a single server never marks a panel with many servers as down', () => {
    fc.assert(
      fc.property(calls, (ends) => {
        const judged = after(
          ...ends.map(({ endpoint, cause }) => end(endpoint, 'server-0', cause, { isVerification: false })),
          end('backups', 'server-0', 'connection'),
        );
        expect(judged.type).toBe('healthy');
      }),
    );
  });
});
