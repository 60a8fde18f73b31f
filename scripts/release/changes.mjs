// Prints the section of one version in CHANGELOG.md: `node scripts/release/changes.mjs 1.2.3`.
import { readFileSync } from 'node:fs';

const [version = ''] = process.argv.slice(2);
const sections = readFileSync('CHANGELOG.md', 'utf8').split(/^(?=## )/m);
const section = sections.find(
  (text) => text.startsWith(`## ${version} `) || text.startsWith(`## ${version}\n`),
);
if (section === undefined) {
  console.error(`CHANGELOG.md has no section "## ${version}": move the entries of Unreleased into one`);
  process.exit(1);
}
process.stdout.write(`${section.slice(section.indexOf('\n')).trim()}\n`);
