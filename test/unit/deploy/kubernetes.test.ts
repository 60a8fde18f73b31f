import { BlockList, isIPv6 } from 'node:net';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { parseShard } from '../../../src/commands/serve-flags.ts';
import { parseConfig } from '../../../src/config/parse.ts';
import { readText, readYaml } from '../../support/deploy-files.ts';

const LOCAL_ADDRESSES = ['169.254.0.1', '169.254.255.255', 'fe80::1', 'febf::1'];

/**
 * The addresses where clouds serve credentials: those of AWS, GCP, Azure and Alibaba, and
 * 169.254.169.254 through NAT64.
 */
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

const base = (name: string) => {
  const documents = readYaml(`${FOLDER}/base/${name}.yaml`);
  expect(documents, name).toHaveLength(1);
  return documents[0];
};

const stateful = base('stateful-set');
const POD = 'spec.template.spec';
const CONTAINER = `${POD}.containers[0]`;
const containerSchema = z.object({
  args: z.array(z.string()),
  volumeMounts: z.array(
    z.object({ name: z.string(), mountPath: z.string(), readOnly: z.literal(true).optional() }),
  ),
});
const podSchema = z.object({ spec: z.object({ containers: z.tuple([containerSchema]) }) });
const { template } = z.object({ spec: z.object({ template: podSchema }) }).parse(stateful).spec;
const [{ args, volumeMounts }] = template.spec.containers;

it.each([
  [0, '1'],
  [2, '3'],
])('the pod %i of %s is that shard', (index, total) => {
  const shard = args.find((arg) => arg.startsWith('--shard='))?.split('=')[1] ?? '';
  const env = { POD_NAME: `gameserver-exporter-${index}`, TOTAL_SHARDS: total };
  expect(parseShard({ shard }, env)).toEqual({ index, total: Number(total) });
});

it('the pods write only to the volume for their state, which a component makes a claim for each shard', () => {
  const writable = volumeMounts.filter(({ readOnly }) => readOnly === undefined);
  expect(writable).toEqual([{ name: 'state', mountPath: '/var/lib/gameserver-exporter' }]);
  expect(args).toContain(`--storage.path=${writable[0]?.mountPath}`);
  const [patch] = readYaml(`${FOLDER}/components/state/stateful-set.yaml`);
  expect(patch).toMatchObject({
    kind: 'StatefulSet',
    metadata: { name: 'gameserver-exporter' },
    spec: { volumeClaimTemplates: [{ metadata: { name: 'state' } }] },
  });
});

describe('the pods', () => {
  it('are selected by all resources that refer to them', () => {
    expect(stateful).toHaveProperty('spec.template.metadata.labels', labels);
    for (const name of ['stateful-set', 'pod-monitor', 'pod-disruption-budget'])
      expect(base(name), name).toHaveProperty('spec.selector.matchLabels', labels);
    expect(base('network-policy')).toHaveProperty('spec.podSelector.matchLabels', labels);
    expect(stateful).toHaveProperty('spec.serviceName', 'gameserver-exporter');
    expect(base('service')).toMatchObject({
      metadata: { name: 'gameserver-exporter' },
      spec: {
        clusterIP: 'None',
        selector: labels,
        ports: [{ name: 'http', port: 10_317, targetPort: 'http' }],
      },
    });
  });

  it('are probed and scraped on the port that the program listens on', () => {
    expect(stateful).toHaveProperty(`${CONTAINER}.ports`, [{ name: 'http', containerPort: 10_317 }]);
    expect(stateful).toHaveProperty(`${CONTAINER}.livenessProbe.httpGet`, {
      path: '/-/healthy',
      port: 'http',
    });
    expect(stateful).toHaveProperty(`${CONTAINER}.readinessProbe.httpGet`, {
      path: '/-/ready',
      port: 'http',
    });
    expect(base('pod-monitor')).toMatchObject({
      spec: { podMetricsEndpoints: [{ port: 'http', path: '/metrics' }] },
    });
    expect(base('network-policy')).toMatchObject({
      spec: { policyTypes: ['Ingress', 'Egress'], ingress: [{ ports: [{ port: 'http', protocol: 'TCP' }] }] },
    });
  });

  it.each(['base', 'components/players'])(
    'cannot reach link-local addresses or the metadata services of clouds with the policy in %s',
    (folder) => {
      const ipBlock = z.strictObject({ cidr: z.string(), except: z.array(z.string()) });
      const peer = z.union([
        z.strictObject({ ipBlock }),
        z.strictObject({ namespaceSelector: z.looseObject({}) }),
      ]);
      // Every rule must have `to`, because a rule without it would allow every address.
      const { egress } = z
        .object({ spec: z.object({ egress: z.array(z.object({ to: z.array(peer).min(1) })) }) })
        .parse(readYaml(`${FOLDER}/${folder}/network-policy.yaml`)[0]).spec;
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
    },
  );

  it('are selected by the policy for players, which allows the ports of games', () => {
    expect(readYaml(`${FOLDER}/components/players/network-policy.yaml`)[0]).toMatchObject({
      spec: {
        podSelector: { matchLabels: labels },
        egress: [{ ports: [{ protocol: 'UDP', port: 1_024, endPort: 65_535 }, { protocol: 'TCP' }] }],
      },
    });
  });

  it('meet the restricted pod security standard', () => {
    expect(stateful).toHaveProperty(
      `${POD}.securityContext`,
      expect.objectContaining({
        runAsNonRoot: true,
        runAsUser: 65_532,
        seccompProfile: { type: 'RuntimeDefault' },
      }),
    );
    expect(stateful).toHaveProperty(`${POD}.automountServiceAccountToken`, false);
    expect(stateful).toHaveProperty(`${CONTAINER}.securityContext`, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(base('service-account')).toMatchObject({
      automountServiceAccountToken: false,
    });
    expect(readText('Dockerfile')).toMatch(/^USER 65532:65532$/m);
    for (const overlay of ['one', 'many'])
      expect(readYaml(`${FOLDER}/overlays/${overlay}/namespace.yaml`)[0]).toMatchObject({
        metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
      });
  });

  it('mount the configuration where the program looks for it, and the key where the configuration expects it', async () => {
    const mounts = new Map(volumeMounts.map(({ name, mountPath }) => [name, mountPath]));
    // The image's working directory.
    expect(readText('Dockerfile')).toContain(`WORKDIR ${mounts.get('config') ?? '?'}\n`);
    const text = readText(`${FOLDER}/base/config.yaml`);
    expect(text).toContain(`api_key_file: ${mounts.get('secret') ?? '?'}/panel-key`);
    expect((await parseConfig(text, 'config.yaml', {})).issues).toEqual([]);
  });
});
