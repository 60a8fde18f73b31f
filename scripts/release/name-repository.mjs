// Inserts the address of the repository that makes a release, and the digest of its image:
// `node scripts/release/name-repository.mjs https://github.com owner/name sha256:…`.
//
// npm publishes a package with provenance only if the package names its repository, and a fork's
// release must not link to the image or the runbooks of another repository.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

const [server, repository, digest, ...rest] = process.argv.slice(2);
if (
  server === undefined ||
  !URL.canParse(server) ||
  !/^[\w.-]+\/[\w.-]+$/.test(repository ?? '') ||
  !/^sha256:[0-9a-f]{64}$/.test(digest ?? '') ||
  rest.length > 0
) {
  console.error(
    "Usage: node scripts/release/name-repository.mjs <server, such as https://github.com> <owner/name> <the image's digest>",
  );
  process.exit(2);
}

const address = `${server.replace(/\/$/, '')}/${repository}`;
const image = `ghcr.io/${repository.toLowerCase()}`;

const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
const { version } = manifest;
const blob = `${address}/blob/v${version}`;

edit('package.json', (text) => {
  const { name, version: ownVersion, description, keywords, ...others } = JSON.parse(text);
  const named = {
    name,
    version: ownVersion,
    description,
    keywords,
    homepage: `${address}#readme`,
    bugs: `${address}/issues`,
    repository: { type: 'git', url: `git+${address}.git` },
    ...others,
  };
  return `${JSON.stringify(named, null, 2)}\n`;
});

// The documentation has two variants of some parts, because a checkout has no published package or
// image.
const PAGES = [
  'README.md',
  ...readdirSync('docs').flatMap((name) => (name.endsWith('.md') ? `docs/${name}` : [])),
];
for (const file of PAGES) {
  edit(file, (text) =>
    text
      .replaceAll(/^ *<!-- checkout -->\n[^]*?^ *<!-- release\n([^]*?)^ *-->\n/gm, '$1')
      .replaceAll('IMAGE', `${image}:${version}`),
  );
}
edit('docs/install.md', (text) =>
  replace('docs/install.md', text, [
    [/^ {2}gameserver-exporter$/m, `  ${image}:${version}`],
    [/ gameserver-exporter'$/m, ` ${image}:${version}'`],
  ]),
);

const OVERLAYS = ['one', 'many'].map((name) => `deploy/kubernetes/overlays/${name}/kustomization.yaml`);
for (const file of OVERLAYS) {
  edit(file, (text) =>
    replace(file, text, [
      [/^( +newName: ).*$/m, `$1${image}`],
      [/^( +newTag: ).*$/m, `$1${version}`],
    ]),
  );
}

// A release has no checkout to build the image from.
const COMPOSE = 'deploy/compose/compose.yaml';
edit(COMPOSE, (text) =>
  replace(COMPOSE, text, [
    [
      /^( +image: )gameserver-exporter:.*\n +build:\n +context: .*\n +#.*\n +pull_policy: never$/m,
      `$1${image}:${version}@${digest}`,
    ],
  ]),
);

const RULES = [
  'deploy/prometheus/rules/gameserver.yml',
  'deploy/kubernetes/components/alerts/kustomization.yaml',
];
for (const file of RULES) {
  edit(file, (text) => replace(file, text, [[/^( +runbooks: )''$/m, `$1'${blob}'`]]));
}

const DASHBOARDS = ['fleet', 'server', 'exporter'].map((name) => `deploy/grafana/dashboards/${name}.json`);
for (const file of DASHBOARDS) {
  edit(file, (text) => {
    const dashboard = JSON.parse(text);
    const link = {
      title: 'Documentation',
      type: 'link',
      url: `${blob}/deploy/grafana/README.md`,
      icon: 'doc',
      tooltip: '',
      tags: [],
      asDropdown: false,
      targetBlank: true,
      includeVars: false,
      keepTime: false,
    };
    return `${JSON.stringify({ ...dashboard, links: [...dashboard.links, link] }, null, 2)}\n`;
  });
}

function edit(file, change) {
  writeFileSync(file, change(readFileSync(file, 'utf8')));
}

function replace(file, text, replacements) {
  return replacements.reduce((changed, [pattern, replacement]) => {
    if (!pattern.test(changed)) throw new Error(`${file}: nothing matches ${pattern}`);
    return changed.replace(pattern, replacement);
  }, text);
}
