// The cells of a server's row.
import type { ComponentChild, JSX } from 'preact';
import { isOff } from '../../domain/power-states.ts';
import { DASH, rate, span } from '../data/amounts.ts';
import { attentionGroup } from '../data/attention-codes.ts';
import type { LiveServer } from '../data/live-fields.ts';
import { conditionTitle, STOP_TITLES, sentence, stateTitle } from '../data/titles.ts';
import type { LiveFleet } from './live-fleet.ts';
import { playerText } from './players.ts';
import { ago, time } from './times.tsx';
import { isUnread, judgeServer } from './traits.ts';
import { withCode } from './with-code.tsx';

export function serverCell(server: LiveServer, fleet: LiveFleet): JSX.Element {
  const place = describePlace(fleet, server);
  const players = playerText(server);
  return (
    <div title={`${server.server}\n${place}`}>
      <bdi class="name">{server.server}</bdi>
      <span class="sub">
        {players !== undefined && (
          <span class="on-card">{`${players} players${place === '' ? '' : ' · '}`}</span>
        )}
        {place}
      </span>
    </div>
  );
}

/** The server's panel and node, if servers differ in them. */
export function describePlace(
  { status: { panels }, hasNodes }: LiveFleet,
  server: Partial<LiveServer>,
): string {
  const names = [panels.length > 1 ? server.panel : '', hasNodes ? server.node : '', server.egg];
  return names.filter((name) => name !== undefined && name !== '').join(' · ');
}

export function stateCell(server: LiveServer, fleet: LiveFleet): JSX.Element {
  const group = server.attention && attentionGroup(server.attention);
  const isDown = group === 'down' || group === 'no_data';
  return (
    <>
      <span class="badge" data-state={isDown ? 'down' : server.state}>
        {isUnread(server) ? 'not read yet' : stateTitle(server.state, server.condition)}
      </span>
      <span class="sub">{monitoringText(fleet, server)}</span>
    </>
  );
}

/** How the server is monitored. The sample of a polled server may be some time old. */
function monitoringText(fleet: LiveFleet, server: LiveServer): string {
  const { condition, blocked, last_sample_timestamp_seconds: sampled } = server;
  // Omitted while it streams, like every server without a problem. A failure is shown as the
  // problem.
  if ((condition === 'streaming' || condition === 'failing') && blocked === undefined) return '';
  const title = blocked ?? conditionTitle(condition);
  // 0 while samples keep coming.
  const age = sampled === 0 ? 0 : fleet.time - (sampled ?? fleet.time);
  return condition === 'polling' && age > 0 ? `${title} · ${span(age)}` : title;
}

/** A server's problem and when it began, with what to do below it. */
export function problemCell(server: LiveServer, { time: now }: LiveFleet): JSX.Element | null {
  const { complaint, last_crash: crash } = server;
  if (complaint === undefined || judgeServer(server) === undefined) return null;
  const { severity, title, action, since } = complaint;
  // The last sample may be older than the cause.
  const sinceText = server.attention === 'no_data' ? `no data for ${span(now - (since ?? now))}` : '';
  return (
    <>
      <span class="what" data-severity={severity}>
        <span class="cause" title={title}>
          {sentence(title)}
        </span>
        {since === undefined
          ? crash &&
            time(
              crash.timestamp_seconds,
              `${STOP_TITLES[crash.reason]} ${ago(crash.timestamp_seconds, now)}`,
              'sub since',
            )
          : time(since, sinceText || ago(since, now), 'sub since')}
      </span>
      <span class="action" title={action}>
        {withCode(action)}
      </span>
    </>
  );
}

export function networkCell(server: LiveServer): ComponentChild {
  const { network_receive_bytes_per_second: received, network_transmit_bytes_per_second: sent } = server;
  if (received === undefined || isOff(server.state)) return DASH;
  return (
    <>
      <span>↓ {rate(received)}</span>
      <span>↑ {rate(sent ?? 0)}</span>
    </>
  );
}
