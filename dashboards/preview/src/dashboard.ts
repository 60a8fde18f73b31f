import type { DataTransformerConfig, FieldConfigSource } from '@grafana/data';
import type {
  BarGaugeDisplayMode,
  BarGaugeNamePlacement,
  BarGaugeValueMode,
  BigValueColorMode,
  BigValueGraphMode,
  BigValueJustifyMode,
  BigValueTextMode,
  ReduceDataOptions,
  TableCellHeight,
  VizLegendOptions,
  VizOrientation,
} from '@grafana/schema';

export interface Target {
  readonly refId: string;
  readonly expr: string;
  readonly instant?: boolean;
  readonly format?: string;
  readonly legendFormat?: string;
}

/** The options of all types of panels; each has those of its type. */
export interface Options {
  readonly orientation: VizOrientation;
  readonly reduceOptions: ReduceDataOptions;
  readonly colorMode: BigValueColorMode;
  readonly graphMode: BigValueGraphMode;
  readonly justifyMode: BigValueJustifyMode;
  readonly textMode: BigValueTextMode;
  readonly wideLayout: boolean;
  readonly displayMode: BarGaugeDisplayMode;
  readonly valueMode: BarGaugeValueMode;
  readonly namePlacement: BarGaugeNamePlacement;
  readonly showUnfilled: boolean;
  readonly minVizHeight: number;
  readonly maxVizHeight: number;
  readonly cellHeight: TableCellHeight;
  readonly sortBy: { displayName: string; desc?: boolean }[];
  readonly legend: VizLegendOptions;
  readonly rowHeight: number;
  readonly perPage: number;
}

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly Target[];
  readonly fieldConfig: FieldConfigSource;
  readonly options: Options;
  readonly transformations?: DataTransformerConfig[];
  readonly maxDataPoints?: number;
  readonly collapsed?: boolean;
  /** The panels of a collapsed row. */
  readonly panels?: readonly Panel[];
}

interface Variable {
  readonly name: string;
  readonly label: string;
  readonly type: string;
  readonly allValue?: string;
}

export interface Dashboard {
  readonly title: string;
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly Variable[] };
}

/** What the page shows. */
export interface View {
  readonly dashboard: Dashboard;
  /** Unix seconds. */
  readonly from: number;
  readonly to: number;
  readonly theme: 'dark' | 'light';
  /** Seconds, as in the data source's settings. */
  readonly scrapeInterval: number;
  /** Titles of collapsed rows that are expanded. */
  readonly expanded: readonly string[];
  /** The server that is selected where not all are. */
  readonly server: string;
}

declare global {
  interface Window {
    readonly view: View;
    /** The number of panels without their data. */
    pending: number;
    failures: string[];
  }
}
