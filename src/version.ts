import { readFileSync } from 'node:fs';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** The package's version. */
export const VERSION: string = version;

/** What the exporter calls itself towards panels and nodes. */
export const USER_AGENT = `gameserver-exporter/${VERSION}`;

/** The commit that the program was built from; builds of images and packages set it. */
export const REVISION: string = process.env['GAMESERVER_EXPORTER_REVISION'] ?? 'unknown';
