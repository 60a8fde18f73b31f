// The banners and counts above the table.
import type { JSX } from 'preact';
import { SERVER_STATES } from '../../domain/power-states.ts';
import { CONDITIONS } from '../../domain/snapshot.ts';
import { countText } from '../data/amounts.ts';
import { ATTENTION_CODES, attentionTitle } from '../data/attention-codes.ts';
import type { PanelStatus } from '../data/panel-status.ts';
import { conditionTitle, pluralize, stateTitle, unclearTitle } from '../data/titles.ts';
import { banner } from './banner.tsx';
import { bar } from './bar.tsx';
import type { LiveFleet } from './live-fleet.ts';
import { totalPlayers } from './players.ts';
import { VERDICT_CODES, VERDICTS } from './traits.ts';
import type { Choice } from './view.ts';

/** A trait of servers, its title for one server, and its plural title if that differs. */
type Titled = readonly [trait: string, title: string, plural?: string];

/**
 * Buttons with numbers of servers, each of which filters the table. A 0 is shown only while it is
 * the filter.
 */
function tiles(titles: readonly Titled[], { counts }: LiveFleet, { view, choose }: Choice): JSX.Element[] {
  const shown = titles.filter(([trait]) => counts.has(trait) || view.show === trait);
  return shown.map(([trait, title, plural = title]) => (
    <button
      key={trait}
      type="button"
      class="tile"
      aria-pressed={view.show === trait}
      data-show={trait}
      onClick={() => choose({ show: view.show === trait ? '' : trait })}
    >
      <b>{countText(counts.get(trait) ?? 0)}</b>
      <span>{counts.get(trait) === 1 ? title : plural}</span>
    </button>
  ));
}

/** Whether every server was read, and there are no problems and no notes. */
function isWell({ servers, counts, status }: LiveFleet): boolean {
  if (servers.length === 0 || status.complaints.length > 0 || counts.has('data:unread')) return false;
  return VERDICT_CODES.every((verdict) => !counts.has(`verdict:${verdict}`));
}

/**
 * The numbers of servers in total, running, unread and with each verdict, and the number of
 * players.
 */
export function fleetSummary(fleet: LiveFleet, choice: Choice): JSX.Element {
  const { servers } = fleet;
  const titles: readonly Titled[] = [
    ['state:running', 'running'],
    ['data:unread', 'not read yet'],
    ...VERDICT_CODES.map((verdict): Titled => {
      const [one, several] = VERDICTS[verdict];
      // Includes crashed servers that have another verdict.
      return [verdict === 'crashed' ? 'data:crashed' : `verdict:${verdict}`, one, several];
    }),
  ];
  const playing = totalPlayers(servers);
  return (
    <section class="summary" aria-label="Summary">
      <button
        type="button"
        class="total"
        aria-pressed={choice.view.show === ''}
        onClick={() => choice.choose({ show: '' })}
      >
        <strong>{countText(servers.length)}</strong>
        <span>{pluralize(servers.length, 'server')}</span>
      </button>
      {tiles(titles, fleet, choice)}
      {playing !== undefined && (
        <p class="playing">
          <b>{countText(playing)}</b> {pluralize(playing, 'player')}
        </p>
      )}
      {isWell(fleet) && <p class="well">No problems</p>}
    </section>
  );
}

/** All counts of servers, in named groups, and everything about each panel. */
export function breakdown(fleet: LiveFleet, choice: Choice): JSX.Element {
  const reasons = ATTENTION_CODES.map((code): Titled => {
    const title = attentionTitle(code);
    return [`attention:${code}`, title, code === 'unclear' ? unclearTitle(undefined) : title];
  });
  const groups: readonly (readonly [title: string, titles: readonly Titled[]])[] = [
    ['Problems', [['attention:any', 'problem', 'problems'], ...reasons]],
    ['States', SERVER_STATES.map((state) => [`state:${state}`, stateTitle(state)])],
    ['Monitoring', CONDITIONS.map((code) => [`condition:${code}`, conditionTitle(code)])],
  ];
  return (
    <>
      <div class="counts">
        {groups.map(([title, titles]) => {
          const shown = tiles(titles, fleet, choice);
          return (
            shown.length > 0 && (
              <section key={title} class="tiles" aria-label={title}>
                <h3>{title}</h3>
                {shown}
              </section>
            )
          );
        })}
      </div>
      <div class="grid">
        {fleet.status.panels.map((panel) => (
          <article key={panel.name} class="panel">
            <div class="head">
              <h3>
                Panel <bdi>{panel.name}</bdi>
              </h3>
              {tiles([[`panel:${panel.name}`, 'server', 'servers']], fleet, choice)}
            </div>
            {panel.complaints.map((complaint) => banner(complaint, fleet.time))}
            {budget(panel)}
            <p class="sub">{panel.needs}</p>
          </article>
        ))}
      </div>
    </>
  );
}

/** The used part of a panel's rate limit, and rejected calls. */
function budget(panel: PanelStatus): JSX.Element {
  const { usedLastMinute: used, limitPerMinute: limit, queueLength, paused } = panel.budget;
  const percent = limit > 0 ? (used / limit) * 100 : 0;
  const facts = [
    ['API calls in the last minute', `${used} of ${limit}`, false],
    ['queued', queueLength, false],
    ['rate-limited (429)', panel.rateLimited, panel.rateLimited > 0],
    ...(paused ? [['paused', 'rate limit exceeded', true]] : []),
  ] as const;
  const list = facts.map(([term, text, isBad]) => (
    <div key={term}>
      <dt>{term}</dt>
      <dd data-bad={isBad ? '' : undefined}>{text}</dd>
    </div>
  ));
  return (
    <>
      {bar(percent, percent >= 95 ? 'warning' : undefined)}
      <dl>{list}</dl>
    </>
  );
}

/** The maximum number of notices above the table. The details contain all of them. */
const MAX_NOTICES = 3;

/** The banners of panels and nodes with problems. */
export function notices({ status: { complaints }, time }: LiveFleet): JSX.Element {
  const more = complaints.length - MAX_NOTICES;
  return (
    <div class="notices" role="status">
      {complaints.slice(0, MAX_NOTICES).map((complaint) => banner(complaint, time))}
      {more > 0 && <p class="sub">{more} more: see the details.</p>}
    </div>
  );
}
