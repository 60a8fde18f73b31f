/** What a browser shows beside the page's title. */
export const PAGE_ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#2563eb"/>' +
  '<path d="M5 19h5l3-9 5 14 3-8h6" fill="none" stroke="#fff" stroke-width="2.6" stroke-linecap="round" stroke-linejoin="round"/></svg>\n';

const LIGHT = `
  color-scheme: light;
  --ground: #f4f6f9; --surface: #fff; --raised: #f8fafc; --text: #18212f; --muted: #5b677a; --line: #e3e8ef;
  --accent: #2563eb; --accent-soft: #e4ecfd; --limit: #b4453a;
  --good: #15803d; --good-soft: #dcf5e4; --warn: #a25b06; --warn-soft: #fdf0d5; --bad: #c02626; --bad-soft: #fde5e5;
  --idle: #5b677a; --idle-soft: #e9edf3; --track: #e6ebf2;
  --series-1: #2563eb; --series-2: #7c3aed; --series-3: #0d9488;
`;

const DARK = `
  color-scheme: dark;
  --ground: #0e131a; --surface: #161d27; --raised: #1b2430; --text: #e5eaf2; --muted: #93a1b5; --line: #273242;
  --accent: #6ea0ff; --accent-soft: #1c2d4d; --limit: #f08c7f;
  --good: #5fd38d; --good-soft: #153526; --warn: #f2b25c; --warn-soft: #3a2b12; --bad: #ff8d8d; --bad-soft: #43191d;
  --idle: #9aa7ba; --idle-soft: #263141; --track: #273242;
  --series-1: #6ea0ff; --series-2: #b497ff; --series-3: #4fd1c5;
`;

const FRAME = `
* { box-sizing: border-box; }
[hidden] { display: none !important; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0 auto; padding: 0 1.5rem 4rem; max-width: 1560px; background: var(--ground); color: var(--text);
  font: 14px/1.4 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; font-variant-numeric: tabular-nums;
}
a { color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: -2px; }
button, input, select { font: inherit; color: inherit; }
button { cursor: pointer; }
bdi { unicode-bidi: isolate; }
.sub { color: var(--muted); font-size: 12px; }
.top { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1rem; padding: 1.1rem 0 .9rem; }
.top h1 { font-size: 1.15rem; font-weight: 650; margin: 0; letter-spacing: -.01em; }
.top nav { margin-left: auto; display: flex; flex-wrap: wrap; gap: .9rem; align-items: center; }
.top nav a { color: var(--muted); text-decoration: none; }
.top nav a:hover { color: var(--accent); text-decoration: underline; }
.theme {
  border: 1px solid var(--line); background: var(--surface); color: var(--muted); border-radius: 999px; padding: .15rem .7rem;
}
#link {
  margin: 0; display: flex; align-items: center; gap: .4rem; padding: .1rem .6rem; border-radius: 999px; font-size: 12px;
  font-weight: 600; color: var(--good); background: var(--good-soft);
}
#link::before { content: ""; width: 7px; height: 7px; border-radius: 50%; background: currentColor; }
#link[data-link=lost] { color: var(--bad); background: var(--bad-soft); }
.lost .servers, .lost .summary, .lost .panels { opacity: .55; }
`;

const SUMMARY = `
.summary { display: flex; flex-wrap: wrap; gap: .6rem 1.6rem; align-items: center; margin: .1rem 0 1rem; }
.total { margin: 0; display: flex; gap: .4rem; align-items: baseline; color: var(--muted); }
.total strong { font-size: 1.7rem; line-height: 1.1; color: var(--text); font-weight: 650; letter-spacing: -.02em; }
.tiles { display: flex; flex-wrap: wrap; gap: .45rem; }
.tile {
  display: flex; gap: .4rem; align-items: baseline; padding: .3rem .75rem; border-radius: 9px; border: 1px solid var(--line);
  background: var(--surface); color: var(--muted);
}
.tile b { font-size: 1.05rem; font-weight: 650; color: var(--text); }
.tile[data-state=running] b, .tile[data-condition=streaming] b { color: var(--good); }
.tile[data-state=starting] b, .tile[data-state=stopping] b, .tile[data-condition=polling] b { color: var(--warn); }
.tile[data-condition=blocked] b, .tile[data-condition=failing] b { color: var(--bad); }
.tile[data-bad] b { color: var(--bad); }
.tile[data-none] b { color: var(--muted); font-weight: 500; }
.tile:hover { border-color: var(--accent); }
.tile[aria-pressed=true] { border-color: var(--accent); background: var(--accent-soft); color: var(--text); }
.panels { margin: 0 0 1rem; }
.panels > summary { cursor: pointer; color: var(--muted); font-weight: 600; font-size: 12px; margin-bottom: .5rem; }
.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 460px), 1fr)); gap: .75rem; }
.panel { background: var(--surface); border: 1px solid var(--line); border-radius: 12px; padding: .8rem 1rem; max-width: 620px; }
.panel h3 { margin: 0 0 .55rem; font-size: 14px; display: flex; gap: .6rem; align-items: center; }
.panel h3 bdi { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.panel dl { display: flex; flex-wrap: wrap; gap: .2rem 1.4rem; margin: .55rem 0 .35rem; }
.panel dl div { display: flex; gap: .4rem; }
.panel dt { color: var(--muted); }
.panel dd { margin: 0; font-weight: 600; }
.panel dd[data-bad] { color: var(--bad); }
.panel p { margin: 0; }
.bar { display: block; height: 4px; border-radius: 2px; background: var(--track); overflow: hidden; }
.fill { display: block; height: 100%; border-radius: 2px; background: var(--accent); }
.fill[data-level=high] { background: var(--warn); }
.fill[data-level=full] { background: var(--bad); }
.badge {
  display: inline-flex; align-items: center; gap: .38rem; padding: .08rem .55rem; border-radius: 999px; font-size: 12px;
  font-weight: 600; color: var(--idle); background: var(--idle-soft); white-space: nowrap;
}
.badge::before { content: ""; width: 6px; height: 6px; border-radius: 50%; background: currentColor; }
.badge[data-state=running] { color: var(--good); background: var(--good-soft); }
.badge[data-state=starting], .badge[data-state=stopping] { color: var(--warn); background: var(--warn-soft); }
.badge[data-state=down] { color: var(--bad); background: var(--bad-soft); }
.badge[data-state=unknown]::before { background: none; box-shadow: inset 0 0 0 1.5px currentColor; }
`;

const TABLE = `
.tools { display: flex; flex-wrap: wrap; gap: .6rem; align-items: center; margin: 0 0 .6rem; }
.search, .sort { background: var(--surface); border: 1px solid var(--line); border-radius: 9px; padding: .45rem .75rem; }
.search { flex: 0 1 26rem; min-width: 0; }
.search::placeholder { color: var(--muted); }
.sort { display: none; }
.count { margin: 0; color: var(--muted); }
.count:empty { display: none; }
.servers {
  --row-height: 58px; width: 100%; border-collapse: separate; border-spacing: 0; table-layout: fixed; background: var(--surface);
  border: 1px solid var(--line); border-radius: 12px;
}
.servers th { position: sticky; top: 0; z-index: 2; background: var(--raised); padding: 0; text-align: left; border-bottom: 1px solid var(--line); }
.servers th:first-child { border-top-left-radius: 12px; }
.servers th:last-child { border-top-right-radius: 12px; }
.servers th button {
  width: 100%; text-align: left; border: 0; background: none; padding: .55rem .8rem; font-size: 12px; font-weight: 600; color: var(--muted); white-space: nowrap;
}
.servers th button:hover, .servers th[aria-sort] button { color: var(--text); }
.servers th button::after { content: " ↕"; opacity: 0; }
.servers th button:hover::after { opacity: .5; }
.servers th[aria-sort=ascending] button::after { content: " ↑"; opacity: 1; }
.servers th[aria-sort=descending] button::after { content: " ↓"; opacity: 1; }
.servers th.name { width: 17%; } .servers th.state { width: 9%; } .servers th.cpu { width: 19%; }
.servers th.memory, .servers th.disk { width: 11.5%; } .servers th.network { width: 8.5%; } .servers th.age { width: 7%; }
.servers tr.server { height: var(--row-height); cursor: pointer; }
.servers tr.server:hover, .servers tr[aria-expanded=true] { background: var(--raised); }
.servers tr.server > td { height: var(--row-height); padding: 0 .8rem; border-bottom: 1px solid var(--line); overflow: hidden; white-space: nowrap; }
.servers tr.server[aria-expanded=true] > td { border-bottom-color: transparent; }
.servers td > span, .servers td > bdi { display: block; overflow: hidden; text-overflow: ellipsis; }
.servers td > span.badge { display: inline-flex; }
.servers .name { font-weight: 600; }
.servers td.state .sub { margin: .12rem 0 0 .55rem; }
.servers tr[data-condition=blocked] td.state .sub, .servers tr[data-condition=failing] td.state .sub { color: var(--bad); }
.servers tr[data-condition=polling] td.state .sub { color: var(--warn); }
.usage { display: grid; grid-template-columns: minmax(0, 1fr) auto; column-gap: .6rem; align-items: center; }
.usage .main { font-weight: 500; }
.usage .sub { grid-row: 2; overflow: hidden; text-overflow: ellipsis; }
.usage .bar { grid-row: 3; margin-top: 3px; }
.usage .spark { grid-column: 2; grid-row: 1 / 4; width: 96px; height: 32px; }
.spark .area { fill: var(--series-1); opacity: .14; }
.spark .line { fill: none; stroke: var(--series-1); stroke-width: 1.4; stroke-linejoin: round; vector-effect: non-scaling-stroke; }
.network .main { font-size: 13px; }
.age [data-live] { color: var(--good); font-weight: 600; }
.servers td.trouble .words {
  display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; white-space: normal; font-size: 12px; line-height: 1.3; color: var(--muted);
  overflow-wrap: anywhere;
}
.gap td { padding: 0; border: 0; }
.details > td { padding: 0; border-bottom: 1px solid var(--line); background: var(--raised); }
.plain { border-collapse: collapse; width: 100%; background: var(--surface); border: 1px solid var(--line); }
.plain th, .plain td { text-align: left; padding: .35rem .8rem; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
`;

const DETAILS = `
.detail { padding: .2rem .8rem 1.1rem; display: grid; gap: .9rem; cursor: default; white-space: normal; }
.detail > .trouble { margin: 0; padding: .55rem .8rem; border-radius: 8px; background: var(--bad-soft); overflow-wrap: anywhere; }
.charts { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: .8rem; }
.chart .u-legend th { background: none; }
.chart { background: var(--surface); border: 1px solid var(--line); border-radius: 10px; padding: .6rem .4rem .3rem; min-width: 0; min-height: 236px; }
.chart h3, .history h3 { margin: 0 .4rem .3rem; font-size: 12px; font-weight: 600; color: var(--muted); }
.chart .u-legend { font-size: 12px; color: var(--muted); text-align: left; padding-left: .4rem; }
.chart .u-legend .u-series:first-child { display: none; }
.chart .u-legend .u-value { font-weight: 600; color: var(--text); }
.side { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: .8rem; }
.facts { margin: 0; display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .15rem 1rem; align-content: start; padding: 0 .4rem; }
.facts dt { color: var(--muted); }
.facts dd { margin: 0; overflow-wrap: anywhere; }
.history > .sub { margin: 0 .4rem; }
.changes { list-style: none; margin: 0 .4rem; padding: 0; display: grid; gap: .25rem; max-height: 11rem; overflow: auto; }
.changes li { display: flex; gap: .7rem; align-items: center; }
.changes .badge { min-width: 5.6rem; }
`;

const PHONE = `
@media (max-width: 1180px) {
  .servers th.disk, .servers td.disk { display: none; }
  .servers th.name { width: 18%; } .servers th.state { width: 12%; } .servers th.cpu { width: 20%; } .servers th.memory { width: 16%; }
  .servers th.network { width: 12%; } .servers th.age { width: 8%; }
  .servers tr.server > td, .servers th button { padding-left: .6rem; padding-right: .4rem; }
  .usage .spark { width: 56px; }
  .charts { grid-template-columns: minmax(0, 1fr); }
}
@media (max-width: 760px) {
  body { padding: 0 .8rem 3rem; }
  .top nav { margin-left: 0; }
  .summary { gap: .6rem; }
  .tile { padding: .25rem .6rem; }
  .grid { grid-template-columns: minmax(0, 1fr); }
  .search { flex: 1 1 100%; font-size: 16px; }
  .sort { display: block; flex: 1; }
  .servers { --row-height: 142px; display: block; border: 0; background: none; }
  .servers thead { display: none; }
  .servers tbody, .servers .gap, .servers .gap td, .servers .details, .servers .details > td { display: block; }
  .servers tr.server {
    display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); grid-template-rows: 46px 46px 30px; column-gap: .9rem;
    padding: .45rem .8rem; height: calc(var(--row-height) - 8px); margin-bottom: 8px; background: var(--surface);
    border: 1px solid var(--line); border-radius: 12px; overflow: hidden;
  }
  .servers tr.server > td, .servers tr.server > td.disk { display: block; height: auto; padding: 0; border: 0; align-self: center; }
  .servers tr.server > td.disk { display: none; }
  .servers td.state { text-align: right; }
  .servers tr.server > td.network, .servers tr.server > td.age { display: flex; gap: .7rem; color: var(--muted); align-items: baseline; font-size: 12px; }
  .servers td.network .main { font-size: 12px; overflow: visible; }
  .servers tr.server > td.age { justify-content: flex-end; }
  .servers tr.server > td.trouble { display: none; }
  .servers .details { margin-bottom: 8px; }
  .servers .details > td { border: 1px solid var(--line); border-radius: 12px; padding-top: .8rem; }
  .usage { column-gap: 0; }
  .cpu .usage { column-gap: .6rem; }
  .side { grid-template-columns: minmax(0, 1fr); }
  .plain, .plain tbody, .plain tr, .plain td { display: block; }
  .plain thead { display: none; }
}
@media (prefers-reduced-motion: no-preference) { #link[data-link=lost]::before { animation: pulse 1.2s infinite; } }
@keyframes pulse { 50% { opacity: .25; } }
`;

/** The page's style sheet; dark where the system or the person prefers it. */
export const PAGE_STYLE = `:root {${LIGHT}}
@media (prefers-color-scheme: dark) { :root:not([data-theme=light]) {${DARK}} }
:root[data-theme=dark] {${DARK}}
${FRAME}${SUMMARY}${TABLE}${DETAILS}${PHONE}`;
