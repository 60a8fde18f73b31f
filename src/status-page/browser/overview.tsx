import type { JSX } from 'preact';
import { CONDITIONS } from '../../domain/reading.ts';
import { SERVER_STATES } from '../../domain/server.ts';
import type { LiveServer } from '../data/live-update.ts';
import type { PanelStatus } from '../data/panel-status.ts';
import {
  ATTENTION,
  ATTENTION_CODES,
  conditionTitle,
  stateTitle,
  things,
  unclearTitle,
} from '../data/words.ts';
import { type Choice, hasProblem, type LiveFleet, playersOf } from './live-fleet.ts';
import { bar, notice } from './parts.tsx';

/** A trait of servers, its name, and its name unless there is one server, if that is another. */
type Titled = readonly [trait: string, title: string, plural?: string];

/** Buttons with counts of servers, each of which filters the table; 0 is shown only while the table is filtered by it. */
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
      <b>{(counts.get(trait) ?? 0).toLocaleString('en')}</b>
      <span>{counts.get(trait) === 1 ? title : plural}</span>
    </button>
  ));
}

/** How many servers there are, run, are down or have warnings, and how many people play. */
export function summary(fleet: LiveFleet, choice: Choice): JSX.Element {
  const { servers, status } = fleet;
  const titles: readonly Titled[] = [
    ['state:running', 'running'],
    ['attention:down', 'down'],
    ['attention:no_data', 'no data'],
    ['attention:warning', 'warning', 'warnings'],
    ['attention:unclear', unclearTitle(1), unclearTitle(undefined)],
  ];
  const playing = playersOf(servers);
  const isProblem = (server: LiveServer) => hasProblem(server) || server.attention !== undefined;
  const isWell = servers.length > 0 && status.complaints.length === 0 && !servers.some(isProblem);
  return (
    <section class="summary" aria-label="Summary">
      <button
        type="button"
        class="total"
        aria-pressed={choice.view.show === ''}
        onClick={() => choice.choose({ show: '' })}
      >
        <strong>{servers.length.toLocaleString('en')}</strong>
        <span>{things(servers.length, 'server')}</span>
      </button>
      {tiles(titles, fleet, choice)}
      {playing !== undefined && (
        <p class="playing">
          <b>{playing.toLocaleString('en')}</b> {things(playing, 'player')}
        </p>
      )}
      {isWell && <p class="well">No problems</p>}
    </section>
  );
}

/** All counts of servers, in named groups, and everything about each panel. */
export function details(fleet: LiveFleet, choice: Choice): JSX.Element {
  const reasons = ATTENTION_CODES.map((code): Titled => {
    const { title } = ATTENTION[code];
    return [`attention:${code}`, title, code === 'unclear' ? unclearTitle(undefined) : title];
  });
  const groups: readonly (readonly [title: string, titles: readonly Titled[]])[] = [
    ['Problems', [['attention:any', 'problem', 'problems'], ...reasons]],
    ['States', SERVER_STATES.map((state) => [`state:${state}`, stateTitle(state)])],
    ['Monitoring', CONDITIONS.map((word) => [`condition:${word}`, conditionTitle(word)])],
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
            {panel.complaints.map(notice)}
            {budget(panel)}
            <p class="sub">{panel.needs}</p>
          </article>
        ))}
      </div>
    </>
  );
}

/** How much of a panel's rate limit is used, and what it rejected. */
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

/** Notices above the table; the details have all. */
const MAX_NOTICES = 3;

/** What is wrong with panels and nodes. */
export function notices({ status: { complaints } }: LiveFleet): JSX.Element {
  const more = complaints.length - MAX_NOTICES;
  return (
    <div class="notices" role="status">
      {complaints.slice(0, MAX_NOTICES).map(notice)}
      {more > 0 && <p class="sub">{more} more: see the details.</p>}
    </div>
  );
}
