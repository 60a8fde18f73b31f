import {
  applyFieldOverrides,
  type DataFrame,
  type DataTransformerInfo,
  FieldConfigOptionsRegistry,
  type FieldConfigPropertyItem,
  type FieldConfigSource,
  FieldType,
  type GrafanaTheme2,
  standardTransformers,
  standardTransformersRegistry,
  type ThresholdsConfig,
  type TransformerRegistryItem,
  transformDataFrame,
} from '@grafana/data';
import { lastValueFrom } from 'rxjs';
import type { Panel } from './dashboard.ts';

/** What Grafana's panels use where a dashboard sets nothing. */
const DEFAULTS: Readonly<Record<string, FieldConfigSource['defaults']>> = {
  'state-timeline': { color: { mode: 'continuous-GrYlRd' } },
  timeseries: {
    color: { mode: 'palette-classic' },
    custom: { barWidthFactor: 0.6, pointSize: 5, spanNulls: false, axisPlacement: 'auto' },
  },
};

const STANDARD = [
  'unit',
  'min',
  'max',
  'decimals',
  'color',
  'noValue',
  'links',
  'mappings',
  'thresholds',
] as const;

standardTransformersRegistry.setInit(() => {
  const all = Object.values(standardTransformers) as unknown as DataTransformerInfo[];
  const byId = new Map(all.map((transformer) => [transformer.id, transformer]));
  return [...byId.values()].map((transformer) => {
    const { id, name } = transformer;
    // The other properties are for Grafana's editor.
    return { id, name, transformation: () => Promise.resolve(transformer) } as TransformerRegistryItem;
  });
});

/** A panel's field configuration with the defaults of its type. */
export function fieldConfigOf({ type, fieldConfig }: Panel): FieldConfigSource {
  const basis = DEFAULTS[type] ?? {};
  const { defaults, overrides } = structuredClone(fieldConfig);
  const merged = { ...basis, ...defaults, custom: { ...basis.custom, ...defaults.custom } };
  const overridden = overrides.flatMap(({ properties }) =>
    properties.filter(({ id }) => id === 'thresholds').map(({ value }) => value as ThresholdsConfig),
  );
  for (const { steps } of [...(merged.thresholds === undefined ? [] : [merged.thresholds]), ...overridden]) {
    // JSON can't express it.
    for (const step of steps) step.value ??= Number.NEGATIVE_INFINITY;
  }
  return { defaults: merged, overrides };
}

/** The frames after the panel's transformations, with its units, colors, texts and links. */
export async function displayed(
  frames: DataFrame[],
  panel: Panel,
  theme: GrafanaTheme2,
): Promise<DataFrame[]> {
  const fieldConfig = fieldConfigOf(panel);
  const context = { interpolate: (text: string) => text };
  return applyFieldOverrides({
    data: await lastValueFrom(transformDataFrame(panel.transformations ?? [], frames, context)),
    fieldConfig,
    fieldConfigRegistry: registryFor(fieldConfig),
    replaceVariables: (text) => text,
    theme,
    timeZone: 'utc',
  });
}

function registryFor({ defaults, overrides }: FieldConfigSource): FieldConfigOptionsRegistry {
  const overridden = overrides.flatMap(({ properties }) => properties.map(({ id }) => id));
  const custom = [
    ...Object.keys(defaults.custom ?? {}).map((path) => `custom.${path}`),
    ...overridden.filter((id) => id.startsWith('custom.')),
  ];
  return new FieldConfigOptionsRegistry(() => [
    ...STANDARD.map((id) => property(id, id, false)),
    ...[...new Set(custom)].map((id) => property(id, id.slice('custom.'.length), true)),
  ]);
}

function property(id: string, path: string, isCustom: boolean): FieldConfigPropertyItem {
  return {
    id,
    path,
    isCustom,
    name: id,
    process: (value) => value,
    shouldApply: ({ type }) => type !== FieldType.time || isCustom,
    // Only for Grafana's editor.
    override: () => null,
    editor: () => null,
  };
}
