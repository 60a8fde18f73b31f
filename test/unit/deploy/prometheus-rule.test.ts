import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { DASHBOARDS } from '../../../dashboards/all.ts';
import { render } from '../../../dashboards/board.ts';
import { readText, readYaml } from '../../support/deploy-files.ts';
import { expectFile } from '../../support/generated.ts';

const COMPONENT = 'deploy/kubernetes/components/alerts';

const HEAD = `# Generated from deploy/prometheus/rules, which explains each rule: change that and run UPDATE_GENERATED=1 npm run test:unit.
`;

const DASHBOARDS_HEAD = `# Generated from dashboards/, compact: UPDATE_GENERATED=1 npm run test:unit.
`;

/**
 * The maximum size of annotations in Kubernetes. kubectl stores the applied resource in an
 * annotation.
 */
const MAX_APPLIED_BYTES = 256 * 1_024;

const rulesSchema = z.object({ groups: z.array(z.looseObject({ rules: z.array(z.looseObject({})) })) });

const { groups } = rulesSchema.parse(readYaml('deploy/prometheus/rules/gameserver.yml')[0]);

test('the PrometheusRule contains exactly the shipped rules', () => {
  const manifest = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'gameserver-exporter' },
    spec: { groups },
  };
  const text = stringify(manifest, { aliasDuplicateObjects: false, lineWidth: 0, compat: 'yaml-1.1' });
  expectFile(`${COMPONENT}/prometheus-rule.yaml`, `${HEAD}${text}`);
});

test.each(['deploy/prometheus/rules/gameserver.yml', `${COMPONENT}/prometheus-rule.yaml`])(
  'kubectl, which reads YAML 1.1, reads the same from %s',
  (path) => {
    const read = (version: '1.1' | '1.2') => parse(readText(path), { version, merge: true }) as unknown;
    expect(read('1.1')).toEqual(read('1.2'));
  },
);

test('the ConfigMaps of kube-prometheus contain the dashboards, compact enough for kubectl apply', () => {
  const manifests = Object.entries(DASHBOARDS).map(([file, dashboard]) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: `grafana-dashboard-gameserver-${file.replace('.json', '')}`,
      labels: { grafana_dashboard: '1' },
    },
    data: { [file]: JSON.stringify(JSON.parse(render(dashboard))) },
  }));
  for (const manifest of manifests) {
    expect(JSON.stringify(manifest).length, manifest.metadata.name).toBeLessThan(MAX_APPLIED_BYTES);
  }
  const text = manifests.map((manifest) => stringify(manifest, { lineWidth: 0 })).join('---\n');
  expectFile('deploy/kubernetes/components/kube-prometheus/dashboards.yaml', `${DASHBOARDS_HEAD}${text}`);
});
