import { BlockList, isIPv6 } from 'node:net';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { parseShard } from '../../../src/commands/serve-flags.ts';
import { parseConfig } from '../../../src/config/load.ts';
import { isInRepository, readManifest, readText, readYaml } from '../../support/deploy-files.ts';

const LOCAL_ADDRESSES = ['169.254.0.1', '169.254.255.255', 'fe80::1', 'febf::1'];

/** Where clouds serve credentials: AWS, GCP, Azure, Alibaba, and 169.254.169.254 through NAT64. */
const METADATA_ADDRESSES = [
  '169.254.169.254',
  'fd00:ec2::254',
  'fd20:ce::254',
  '100.100.100.200',
  '168.63.129.16',
  '64:ff9b::a9fe:a9fe',
];

const familyOf = (address: string) => (isIPv6(address) ? 'ipv6' : 'ipv4');

function subnetOf(cidr: string) {
  const [address = '', prefix = ''] = cidr.split('/');
  return [address, familyOf(address), Number(prefix)] as const;
}

const FOLDER = 'deploy/kubernetes';
const labels = { 'app.kubernetes.io/name': 'gameserver-exporter' };

const kustomizationSchema = z.strictObject({
  apiVersion: z.literal('kustomize.config.k8s.io/v1beta1'),
  kind: z.literal('Kustomization'),
  namespace: z.string().optional(),
  labels: z.array(z.strictObject({ pairs: z.record(z.string(), z.string()) })).optional(),
  resources: z.array(z.string()),
  images: z.array(z.strictObject({ name: z.string(), newName: z.string(), newTag: z.string() })).optional(),
  configMapGenerator: z.array(z.strictObject({ name: z.string(), files: z.array(z.string()) })).optional(),
  patches: z.array(z.strictObject({ path: z.string() })).optional(),
});

const probeSchema = z.looseObject({ httpGet: z.strictObject({ path: z.string(), port: z.string() }) });
const selectorSchema = z.strictObject({ matchLabels: z.record(z.string(), z.string()) });

const containerSchema = z.looseObject({
  image: z.string(),
  args: z.array(z.string()),
  env: z.array(z.looseObject({ name: z.string(), value: z.string().optional() })),
  ports: z.array(z.strictObject({ name: z.string(), containerPort: z.int() })),
  livenessProbe: probeSchema,
  readinessProbe: probeSchema,
  securityContext: z.looseObject({}),
  volumeMounts: z.array(
    z.strictObject({ name: z.string(), mountPath: z.string(), readOnly: z.literal(true) }),
  ),
});

const statefulSetSchema = z.object({
  spec: z.strictObject({
    serviceName: z.string(),
    replicas: z.int(),
    podManagementPolicy: z.literal('Parallel'),
    selector: selectorSchema,
    template: z.strictObject({
      metadata: z.strictObject({ labels: z.record(z.string(), z.string()) }),
      spec: z.looseObject({
        terminationGracePeriodSeconds: z.int(),
        automountServiceAccountToken: z.literal(false),
        serviceAccountName: z.string(),
        securityContext: z.looseObject({}),
        containers: z.tuple([containerSchema]),
        volumes: z.array(
          z.looseObject({
            name: z.string(),
            configMap: z.looseObject({ name: z.string() }).optional(),
            secret: z.looseObject({ secretName: z.string() }).optional(),
          }),
        ),
      }),
    }),
  }),
});

const shardPatchSchema = z.object({
  metadata: z.object({ name: z.string() }),
  spec: z.object({
    replicas: z.int(),
    template: z.object({
      spec: z.object({
        containers: z.tuple([
          z.object({ name: z.string(), env: z.array(z.object({ name: z.string(), value: z.string() })) }),
        ]),
      }),
    }),
  }),
});

const kustomization = (path: string) =>
  kustomizationSchema.parse(readYaml(`${FOLDER}/${path}/kustomization.yaml`)[0]);
const base = (name: string) => {
  const documents = readYaml(`${FOLDER}/base/${name}.yaml`);
  expect(documents, name).toHaveLength(1);
  return documents[0];
};

const stateful = statefulSetSchema.parse(readYaml(`${FOLDER}/base/stateful-set.yaml`)[0]).spec;
const pod = stateful.template.spec;
const [container] = pod.containers;

describe('the kustomizations', () => {
  it.each(['base', 'overlays/one', 'overlays/many'])('%s refers only to existing files', (path) => {
    const { resources, patches = [], configMapGenerator = [] } = kustomization(path);
    const named = [
      ...resources,
      ...patches.map((patch) => patch.path),
      ...configMapGenerator.flatMap(({ files }) => files),
    ];
    for (const name of named) {
      const target = name.endsWith('.yaml') ? name : `${name}/kustomization.yaml`;
      expect(isInRepository(`${FOLDER}/${path}/${target}`), name).toBe(true);
    }
  });

  it.each(['one', 'many'])('overlay %s includes the base, with the image of this version', (overlay) => {
    const { resources, images, namespace } = kustomization(`overlays/${overlay}`);
    expect(resources).toContain('../../base');
    expect(images).toEqual([
      { name: container.image, newName: expect.any(String) as string, newTag: readManifest().version },
    ]);
    expect(readYaml(`${FOLDER}/overlays/${overlay}/namespace.yaml`)[0]).toMatchObject({
      metadata: { name: namespace, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
    });
  });

  it('the base includes all of its files', () => {
    expect(kustomization('base').resources.toSorted()).toEqual(
      [
        'service-account.yaml',
        'service.yaml',
        'stateful-set.yaml',
        'pod-disruption-budget.yaml',
        'network-policy.yaml',
        'pod-monitor.yaml',
      ].toSorted(),
    );
  });
});

describe('the shards', () => {
  /** The shard that the program derives from a pod's command line and environment. */
  const shardOf = (index: number, total: string | undefined) =>
    parseShard(
      { shard: container.args.find((arg) => arg.startsWith('--shard='))?.split('=')[1] ?? '' },
      { POD_NAME: `gameserver-exporter-${index}`, ...(total !== undefined && { TOTAL_SHARDS: total }) },
    );

  it('of the base are a single one', () => {
    const total = container.env.find(({ name }) => name === 'TOTAL_SHARDS')?.value;
    expect(stateful.replicas).toBe(1);
    expect(shardOf(0, total)).toEqual({ index: 0, total: 1 });
    expect(kustomization('overlays/one').patches).toBeUndefined();
  });

  it('of the overlay "many" are as many as the pods, and each pod is one of them', () => {
    const [patch] = kustomization('overlays/many').patches ?? [];
    const { metadata, spec } = shardPatchSchema.parse(
      parse(readText(`${FOLDER}/overlays/many/${patch?.path ?? ''}`)),
    );
    expect(metadata.name).toBe('gameserver-exporter');
    expect(spec.template.spec.containers[0].name).toBe(container['name']);
    const total = spec.template.spec.containers[0].env.find(({ name }) => name === 'TOTAL_SHARDS')?.value;
    expect(total).toBe(String(spec.replicas));
    for (let index = 0; index < spec.replicas; index += 1) {
      expect(shardOf(index, total)).toEqual({ index, total: spec.replicas });
    }
  });

  it("are identified by the pod's name", () => {
    expect(container.env).toContainEqual({
      name: 'POD_NAME',
      valueFrom: { fieldRef: { fieldPath: 'metadata.name' } },
    });
  });
});

describe('the pods', () => {
  it('are selected by all resources that refer to them', () => {
    const selectors = [
      stateful.selector,
      z.object({ spec: z.object({ selector: selectorSchema }) }).parse(base('pod-monitor')).spec.selector,
      z.object({ spec: z.object({ selector: selectorSchema }) }).parse(base('pod-disruption-budget')).spec
        .selector,
      z.object({ spec: z.object({ podSelector: selectorSchema }) }).parse(base('network-policy')).spec
        .podSelector,
    ];
    expect(stateful.template.metadata.labels).toEqual(labels);
    expect(selectors).toEqual(selectors.map(() => ({ matchLabels: labels })));
    expect(base('service')).toMatchObject({
      metadata: { name: stateful.serviceName },
      spec: {
        clusterIP: 'None',
        selector: labels,
        ports: [{ name: 'http', port: 10_317, targetPort: 'http' }],
      },
    });
  });

  it('are probed and scraped on the port that the program listens on', () => {
    expect(container.ports).toEqual([{ name: 'http', containerPort: 10_317 }]);
    expect(container.livenessProbe.httpGet).toEqual({ path: '/-/healthy', port: 'http' });
    expect(container.readinessProbe.httpGet).toEqual({ path: '/-/ready', port: 'http' });
    expect(base('pod-monitor')).toMatchObject({
      spec: { podMetricsEndpoints: [{ port: 'http', path: '/metrics' }] },
    });
    expect(base('network-policy')).toMatchObject({
      spec: { policyTypes: ['Ingress', 'Egress'], ingress: [{ ports: [{ port: 'http', protocol: 'TCP' }] }] },
    });
  });

  it('cannot reach link-local addresses or the metadata services of clouds', () => {
    const ipBlock = z.strictObject({ cidr: z.string(), except: z.array(z.string()) });
    const peer = z.union([
      z.strictObject({ ipBlock }),
      z.strictObject({ namespaceSelector: z.looseObject({}) }),
    ]);
    // Every rule must have `to`: a rule without it would allow every address.
    const { egress } = z
      .object({ spec: z.object({ egress: z.array(z.object({ to: z.array(peer).min(1) })) }) })
      .parse(base('network-policy')).spec;
    const blocks = egress.flatMap(({ to }) => to.flatMap((one) => ('ipBlock' in one ? [one.ipBlock] : [])));
    const list = new BlockList();
    for (const { cidr, except } of blocks) {
      const [, family] = subnetOf(cidr);
      for (const subnet of except.map(subnetOf)) {
        expect(subnet[1], 'Kubernetes takes exceptions of the same family only').toBe(family);
        list.addSubnet(subnet[0], subnet[2], subnet[1]);
      }
    }
    expect(blocks.map(({ cidr }) => cidr)).toEqual(['0.0.0.0/0', '::/0']);
    const refused = [...LOCAL_ADDRESSES, ...METADATA_ADDRESSES];
    expect(refused.filter((address) => !list.check(address, familyOf(address)))).toEqual([]);
    const allowed = ['10.0.0.7', '192.168.1.2', '100.64.0.1', '203.0.113.9', 'fd12::1', '2001:db8::1'];
    expect(allowed.filter((address) => list.check(address, familyOf(address)))).toEqual([]);
  });

  it('meet the restricted pod security standard', () => {
    expect(pod.securityContext).toMatchObject({
      runAsNonRoot: true,
      runAsUser: 65_532,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(base('service-account')).toMatchObject({
      metadata: { name: pod.serviceAccountName },
      automountServiceAccountToken: false,
    });
    expect(readText('Dockerfile')).toMatch(/^USER 65532:65532$/m);
  });

  it('mount the configuration where the program looks for it, and the key where the configuration expects it', async () => {
    const [generator] = kustomization('base').configMapGenerator ?? [];
    const volumes = new Map(pod.volumes.map((volume) => [volume.name, volume]));
    const mounts = new Map(container.volumeMounts.map(({ name, mountPath }) => [name, mountPath]));
    expect([...mounts.keys()].toSorted()).toEqual([...volumes.keys()].toSorted());
    expect(volumes.get('config')?.configMap?.name).toBe(generator?.name);
    expect(volumes.get('secret')?.secret?.secretName).toBe('gameserver-exporter');
    // The image's own working directory.
    expect(readText('Dockerfile')).toContain(`WORKDIR ${mounts.get('config') ?? '?'}\n`);
    const text = readText(`${FOLDER}/base/config.yaml`);
    expect(text).toContain(`api_key_file: ${mounts.get('secret') ?? '?'}/panel-key`);
    expect((await parseConfig(text, 'config.yaml', {})).issues).toEqual([]);
  });

  it('have a longer grace period than the program needs to stop', () => {
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(5);
  });

  it('are evicted one at a time when nodes are drained, and a single pod can be evicted too', () => {
    expect(base('pod-disruption-budget')).toMatchObject({ spec: { maxUnavailable: 1 } });
  });
});
