import { describe, expect, it } from 'vitest';
import type { Problem } from '../../../src/domain/problems.ts';
import { PanelProblemLog } from '../../../src/panel/panel-problem-log.ts';
import type { Subject } from '../../../src/panel/subjects.ts';
import { collectingLogger } from '../../support/logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const DOWN: Problem = { cause: 'connection', detail: 'connection refused' };
const HANGING: Problem = { cause: 'timeout', detail: 'no response within 20 s' };
const REFUSED: Problem = { cause: 'key_refused', detail: 'Unauthenticated.' };
const BACKUPS = 'path backups';

/** A log of problems that the test starts and ends. */
function world() {
  const clock = new ManualClock();
  const logger = collectingLogger();
  const log = new PanelProblemLog({
    clock,
    panel: 'main',
    baseUrl: 'https://panel.example.com/',
    log: logger,
  });
  const problems = new Map<Subject, Problem>();
  /** Sets or ends the problem of a subject. Returns the new lines. */
  const change = (subject: Subject, problem?: Problem) => {
    if (problem === undefined) problems.delete(subject);
    else problems.set(subject, problem);
    log.follow((topic) => problems.get(topic));
    return lines();
  };
  const lines = () => logger.lines.splice(0).map(({ level, message }) => `${level}: ${message}`);
  return { clock, logger, log, change, lines };
}

const SUBJECT = 'panel main (https://panel.example.com)';
const starting = (level: string, text: string) => [expect.stringContaining(`${level}: ${SUBJECT}${text}`)];

describe('a problem', () => {
  it.each<[string, Subject, Problem, string, string]>([
    ['of the panel is an error that says how often it is retried', 'panel', DOWN, 'error', ': '],
    ['of consoles is a warning', 'consoles', REFUSED, 'warn', ': '],
    [
      'of a path is a warning that names its calls',
      BACKUPS,
      HANGING,
      'warn',
      ': timed out, for backups calls only: ',
    ],
  ])('%s', (_what, subject, problem, level, text) => {
    const { change, logger } = world();
    const [line, ...others] = change(subject, problem);
    expect(line).toContain(`${level}: ${SUBJECT}${text}`);
    expect(others).toEqual([]);
    expect(line?.endsWith('Retrying at least twice a minute.')).toBe(subject === 'panel');
    expect(logger.lines).toEqual([]);
  });

  it('has its cause, its detail and its endpoint as fields, and the address without a final slash', () => {
    const { logger, log } = world();
    log.follow((topic) => (topic === BACKUPS ? HANGING : undefined));
    expect(logger.lines[0]?.fields).toEqual({
      panel: 'main',
      url: 'https://panel.example.com',
      endpoint: 'backups',
      cause: 'timeout',
      detail: 'no response within 20 s',
    });
  });

  it.each<[string, Subject, Problem, string]>([
    ['of the panel', 'panel', DOWN, ' is available again: resuming calls'],
    ['of consoles', 'consoles', REFUSED, ' grants console access again'],
    ['of a path', BACKUPS, HANGING, ' responds to backups calls again'],
  ])('%s that ends is information', async (_what, subject, problem, text) => {
    const { clock, change } = world();
    change(subject, problem);
    await clock.advance(60_000);
    expect(change(subject)).toEqual([`info: ${SUBJECT}${text}`]);
    expect(change(subject)).toEqual([]);
  });

  it('that stays is logged once, and another cause of a panel that is down is only a warning', () => {
    const { change } = world();
    change('panel', DOWN);
    expect(change('panel', { ...DOWN, detail: 'another' })).toEqual([]);
    expect(change('panel', REFUSED)).toEqual(starting('warn', ': '));
  });

  it('of a path that comes and goes is logged once a minute, as it is then', async () => {
    const { clock, change, lines } = world();
    expect(change(BACKUPS, HANGING)).toEqual(starting('warn', ': '));
    await clock.advance(20_000);
    expect(change(BACKUPS)).toEqual([]);
    expect(change(BACKUPS, DOWN)).toEqual([]);
    await clock.advance(39_999);
    expect(lines()).toEqual([]);
    await clock.advance(1);
    expect(lines()).toEqual(starting('warn', ': unreachable, for backups calls only'));
  });

  it('of the panel explains those of its paths, which are logged once it works', () => {
    const { change } = world();
    change('panel', DOWN);
    expect(change(BACKUPS, HANGING)).toEqual([]);
    expect(change('panel')).toEqual([
      `info: ${SUBJECT} is available again: resuming calls`,
      ...starting('warn', ': timed out, for backups calls only: '),
    ]);
  });
});

it('a stopped log has no timer', () => {
  const { clock, log, change } = world();
  change(BACKUPS, HANGING);
  change(BACKUPS);
  expect(clock.pending).toBe(1);
  log.stop();
  expect(clock.pending).toBe(0);
});
