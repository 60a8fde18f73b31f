import '@grafana/react-data-grid/lib/styles.css';
import 'uplot/dist/uPlot.min.css';
import { createTheme, type DataFrame, dateTime, ThemeContext } from '@grafana/data';
import { GlobalStyles, PanelChrome, PortalContainer } from '@grafana/ui';
import { useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import type { Panel } from './dashboard.ts';
import { displayed } from './field-config.ts';
import { Visualization } from './panels.tsx';
import { framesOf } from './prometheus.ts';
import { valuesOf } from './variables.ts';

// Grafana's grid, in pixels.
const COLUMNS = 24;
const ROW_HEIGHT = 38;
const GAP = 8;
const PADDING = 16;

const { view } = window;
const theme = createTheme({ colors: { mode: view.theme } });
const from = dateTime(view.from * 1_000).utc();
const to = dateTime(view.to * 1_000).utc();
const range = { from, to, raw: { from, to } };
const panels = expanded(view.dashboard.panels);

function App() {
  const column = (window.innerWidth - 2 * PADDING + GAP) / COLUMNS;
  const rows = Math.max(...panels.map(({ gridPos: { y, h } }) => y + h));
  return (
    <ThemeContext.Provider value={theme}>
      <GlobalStyles />
      <PortalContainer />
      <div
        style={{
          width: window.innerWidth,
          padding: PADDING,
          background: theme.colors.background.canvas,
          color: theme.colors.text.primary,
        }}
      >
        <Heading />
        <div style={{ position: 'relative', height: rows * ROW_HEIGHT }}>
          {panels.map((panel) => {
            const { x, y, w, h } = panel.gridPos;
            const size = { width: w * column - GAP, height: h * ROW_HEIGHT - GAP };
            return (
              <div
                key={panel.id}
                style={{ position: 'absolute', left: x * column, top: y * ROW_HEIGHT, ...size }}
              >
                {panel.type === 'row' ? <Row {...panel} /> : <Loaded panel={panel} {...size} />}
              </div>
            );
          })}
        </div>
      </div>
    </ThemeContext.Provider>
  );
}

/** The dashboard's panels; those of an expanded row are below it, and push the others down. */
function expanded(all: readonly Panel[]): readonly Panel[] {
  let down = 0;
  const moved = (panel: Panel) => ({
    ...panel,
    gridPos: { ...panel.gridPos, y: panel.gridPos.y + down },
  });
  return all.flatMap((panel) => {
    const row = moved(panel);
    if (!panel.collapsed || !view.expanded.includes(panel.title)) return [row];
    const inner = (panel.panels ?? []).map(moved);
    down += Math.max(...inner.map(({ gridPos: { y, h } }) => y + h)) - row.gridPos.y - 1;
    return [{ ...row, collapsed: false }, ...inner];
  });
}

function Heading() {
  const values = valuesOf(view);
  const shown = view.dashboard.templating.list.map(({ name, label, type, allValue }) => {
    if (type === 'datasource') return [label, 'Prometheus'] as const;
    return [label, allValue === undefined ? values[name] : 'All'] as const;
  });
  const border = `1px solid ${theme.colors.border.medium}`;
  return (
    <div style={{ marginBottom: PADDING }}>
      <div style={{ display: 'flex', justifyContent: 'space-between', marginBottom: 12 }}>
        <h4>{view.dashboard.title}</h4>
        <span style={{ color: theme.colors.text.secondary }}>
          {from.format('YYYY-MM-DD HH:mm')} to {to.format('HH:mm')} UTC
        </span>
      </div>
      <div style={{ display: 'flex', flexWrap: 'wrap', gap: GAP }}>
        {shown.map(([label, value]) => (
          <span key={label} style={{ display: 'flex', border }}>
            <span style={{ padding: '5px 8px', background: theme.colors.background.secondary }}>{label}</span>
            <span style={{ padding: '5px 16px 5px 8px' }}>{value}</span>
          </span>
        ))}
      </div>
    </div>
  );
}

function Row({ title, collapsed, panels = [] }: Panel) {
  const { colors, typography } = theme;
  return (
    <div style={{ display: 'flex', alignItems: 'center', gap: GAP, height: '100%' }}>
      <span style={{ color: colors.text.secondary }}>{collapsed ? '›' : '⌄'}</span>
      <span style={{ fontSize: typography.h5.fontSize, fontWeight: typography.fontWeightMedium }}>
        {title}
      </span>
      {collapsed && <em style={{ color: colors.text.secondary }}>({panels.length} panels)</em>}
    </div>
  );
}

interface Sized {
  readonly panel: Panel;
  readonly width: number;
  readonly height: number;
}

function Loaded({ panel, width, height }: Sized) {
  const [frames, setFrames] = useState<DataFrame[]>();
  useEffect(() => {
    const load = async () =>
      setFrames(await displayed(await framesOf(panel, range, width, view), panel, theme));
    load()
      .catch((error: unknown) => window.failures.push(`${panel.title}: ${String(error)}`))
      .finally(() => {
        window.pending -= 1;
      });
  }, [panel, width]);
  return (
    <PanelChrome title={panel.title} description={panel.description ?? ''} width={width} height={height}>
      {(innerWidth, innerHeight) =>
        frames && (
          <Visualization
            panel={panel}
            frames={frames}
            range={range}
            width={innerWidth}
            height={innerHeight}
          />
        )
      }
    </PanelChrome>
  );
}

window.failures = [];
window.pending = panels.filter(({ type }) => type !== 'row').length;
const root = document.createElement('div');
document.body.append(root);
createRoot(root).render(<App />);
