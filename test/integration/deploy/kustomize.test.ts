import { appendFileSync, readdirSync } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { readManifest, readText, readYaml, repositoryPath } from '../../support/deploy-files.ts';
import { documents, fencedBlocks } from '../../support/documents.ts';
import { hasKustomize, type Manifest, renderKustomization } from '../../support/kustomize.ts';

const FOLDER = 'deploy/kubernetes';
const LABELS = { 'app.kubernetes.io/name': 'gameserver-exporter' };
const NAMESPACE = 'gameserver-exporter';

/** The number of exporters, and the memory limit of each, by overlay. */
const OVERLAYS = {
  one: { replicas: 1, memory: '512Mi' },
  many: { replicas: 3, memory: '1Gi' },
};

/** Files of the base that overlays change only in their labels and namespace. */
const UNCHANGED = ['service-account', 'service', 'pod-disruption-budget', 'network-policy', 'pod-monitor'];

const KINDS = [
  'ConfigMap',
  'Namespace',
  'NetworkPolicy',
  'PodDisruptionBudget',
  'PodMonitor',
  'Service',
  'ServiceAccount',
  'StatefulSet',
];

const canRender = await hasKustomize();

const ofKind = (manifests: readonly Manifest[], kind: string) => {
  const found = manifests.filter((manifest) => manifest.kind === kind);
  expect(found, kind).toHaveLength(1);
  return found[0];
};

/** A file of the base in the namespace of an overlay. */
function expectedOf(file: string): object {
  const [manifest] = readYaml(`${FOLDER}/base/${file}.yaml`) as readonly [Manifest];
  return { ...manifest, metadata: { ...manifest.metadata, namespace: NAMESPACE, labels: LABELS } };
}

describe.skipIf(!canRender)('kubectl kustomize', () => {
  it('knows every overlay and component', () => {
    expect(readdirSync(repositoryPath(`${FOLDER}/overlays`)).toSorted()).toEqual(
      Object.keys(OVERLAYS).toSorted(),
    );
    expect(readdirSync(repositoryPath(`${FOLDER}/components`))).toEqual([
      'alerts',
      'kube-prometheus',
      'players',
      'state',
    ]);
  });

  describe.each(Object.entries(OVERLAYS))('renders overlay %s', (overlay, { replicas, memory }) => {
    let manifests: readonly Manifest[];

    beforeAll(async () => {
      manifests = await renderKustomization(repositoryPath(`${FOLDER}/overlays/${overlay}`));
    });

    it('with the resources of the base, in a namespace of their own', () => {
      expect(manifests.map(({ kind }) => kind).toSorted()).toEqual(KINDS);
      expect(ofKind(manifests, 'Namespace')).toEqual(
        readYaml(`${FOLDER}/overlays/${overlay}/namespace.yaml`)[0],
      );
      for (const file of UNCHANGED) expect(manifests, file).toContainEqual(expectedOf(file));
    });

    it('with the configuration, in a ConfigMap that the pods mount', () => {
      const config = ofKind(manifests, 'ConfigMap');
      expect(config).toMatchObject({
        metadata: {
          name: expect.stringMatching(/^gameserver-exporter-\w+$/) as string,
          namespace: NAMESPACE,
        },
        data: { 'config.yaml': readText(`${FOLDER}/base/config.yaml`) },
      });
      expect(ofKind(manifests, 'StatefulSet')).toHaveProperty('spec.template.spec.volumes', [
        { name: 'config', configMap: { name: config?.metadata.name } },
        { name: 'secret', secret: { secretName: 'gameserver-exporter', defaultMode: 0o440 } },
        { name: 'state', emptyDir: { sizeLimit: '64Mi' } },
      ]);
    });

    it('with this version of the image, and a shard for each exporter', () => {
      const stateful = ofKind(manifests, 'StatefulSet');
      const template = expectedOf('stateful-set') as {
        spec: { template: { spec: { containers: [object] } } };
      };
      const [container] = template.spec.template.spec.containers;
      expect(stateful).toHaveProperty('metadata.namespace', NAMESPACE);
      expect(stateful).toHaveProperty('spec.replicas', replicas);
      expect(stateful).toHaveProperty('spec.template.metadata.labels', LABELS);
      expect(stateful).toHaveProperty('spec.template.spec.containers', [
        {
          ...container,
          image: `registry.example.com/gameserver-exporter:${readManifest().version}`,
          env: expect.arrayContaining([
            { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
            { name: 'TOTAL_SHARDS', value: String(replicas) },
          ]) as object[],
          resources: { requests: expect.anything() as object, limits: { memory } },
        },
      ]);
    });
  });

  it('renders the additions of the installation guide', async () => {
    const guide = documents().find(({ path }) => path === 'docs/install.md') ?? { text: '' };
    const additions = fencedBlocks(guide, 'yaml').find((block) => block.startsWith('components:'));
    const copy = await mkdtemp(join(tmpdir(), 'kustomize-'));
    onTestFinished(() => rm(copy, { recursive: true }));
    await cp(repositoryPath(FOLDER), copy, { recursive: true });
    appendFileSync(join(copy, 'overlays/one/kustomization.yaml'), `\n${additions}`);
    const manifests = await renderKustomization(join(copy, 'overlays/one'));
    const release = { labels: { release: 'kube-prometheus-stack' } };
    expect(ofKind(manifests, 'PodMonitor')).toMatchObject({ metadata: release });
    expect(ofKind(manifests, 'PrometheusRule')).toMatchObject({ metadata: release });
    expect(ofKind(manifests, 'StatefulSet')).toHaveProperty(
      'spec.template.spec.containers[0].args',
      expect.arrayContaining(['serve', expect.stringMatching(/^--web\.external-url=https:/)]),
    );
    expect(manifests.filter(({ kind }) => kind === 'NetworkPolicy')).toHaveLength(2);
  });

  it.each(Object.keys(OVERLAYS))('adds the components to overlay %s, with its labels', async (overlay) => {
    const copy = await mkdtemp(join(tmpdir(), 'kustomize-'));
    onTestFinished(() => rm(copy, { recursive: true }));
    await cp(repositoryPath(FOLDER), copy, { recursive: true });
    appendFileSync(
      join(copy, `overlays/${overlay}/kustomization.yaml`),
      '\ncomponents: [../../components/alerts, ../../components/kube-prometheus]\nlabels: [{ pairs: { release: prometheus } }]\n',
    );
    const manifests = await renderKustomization(join(copy, 'overlays', overlay));
    const added = manifests.filter(
      ({ kind, metadata }) => !KINDS.includes(kind) || /dashboard/.test(metadata.name),
    );
    const own = { namespace: NAMESPACE, labels: { release: 'prometheus' } };
    const [{ groups }] = readYaml('deploy/prometheus/rules/gameserver.yml') as readonly [
      { groups: object[] },
    ];
    expect(ofKind(added, 'PrometheusRule')).toEqual({
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'PrometheusRule',
      metadata: { name: 'gameserver-exporter', ...own },
      spec: { groups },
    });
    // Prometheus runs in another namespace, and may list the pods of this one.
    expect(ofKind(added, 'Role')).toMatchObject({ metadata: own });
    expect(ofKind(added, 'RoleBinding')).toMatchObject({
      metadata: own,
      subjects: [{ kind: 'ServiceAccount', name: 'prometheus-k8s', namespace: 'monitoring' }],
    });
    expect(added.filter(({ kind }) => kind === 'ConfigMap')).toHaveLength(3);
    expect(added).toHaveLength(6);
  });
});
