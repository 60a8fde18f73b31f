// Commands as a user types them in a shell.

import { basename, relative } from 'node:path';

/** The command that started this program, as typed by the user. */
export function invocation(): string {
  if (process.env['npm_lifecycle_event'] === 'start') return 'npm start --';
  const [, script = ''] = process.argv;
  const near = relative('', script);
  const path = near.length < script.length ? near : script;
  return basename(script) === 'cli.js' ? `node ${shellWord(path)}` : 'gameserver-exporter';
}

/** The text as one word of a shell command. */
export function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
