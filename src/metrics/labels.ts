// The labels of series in Prometheus' text format.

import type { ServerTarget } from '../domain/server.ts';
import { shortId } from '../domain/server-ids.ts';
import { compatibilityLabels } from './compatibility.ts';

/** A label value, escaped for the text format. */
function escapeLabelValue(value: string): string {
  if (!/[\\"\n\uD800-\uDFFF]/.test(value)) return value;
  return value
    .replace(/\p{Surrogate}/gu, '\uFFFD') // a lone surrogate can't be encoded in UTF-8
    .replaceAll('\\', '\\\\')
    .replaceAll('\n', '\\n')
    .replaceAll('"', '\\"');
}

/** One label in the text format. */
export function label(name: string, value: string): string {
  return `${name}="${escapeLabelValue(value)}"`;
}

// Targets are replaced and never changed, so their labels are rendered once and freed with them.
function cached(render: (target: ServerTarget) => Readonly<Record<string, string>>) {
  const known = new WeakMap<ServerTarget, string>();
  return (target: ServerTarget): string => {
    let labels = known.get(target);
    if (labels === undefined) {
      labels = Object.entries(render(target))
        .map(([name, value]) => label(name, value))
        .join(',');
      known.set(target, labels);
    }
    return labels;
  };
}

/** The labels of a server: its panel, name and id, and those that the user gave it. */
export const serverLabels = cached((target) => ({
  panel: target.panel,
  server: target.name,
  server_id: shortId(target),
  ...target.labels,
}));

/** The labels of a server under the names of other exporters. */
export const compatibleServerLabels = cached(compatibilityLabels);
