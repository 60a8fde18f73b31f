// The configuration, as the rest of the program sees it.

import type { z } from 'zod';
import type { ConfigIssue } from '../yaml/issues.ts';
import type { SecretFile } from '../yaml/setting-types.ts';
import type { configSchema } from './config-schema.ts';

/** The whole configuration: valid, complete, and with all files read. */
export type Config = z.output<typeof configSchema>;

/** One panel entry. */
export type PanelConfig = Config['panels'][number];

/** A usable configuration and its key files, or all problems of an invalid one. */
export type LoadResult =
  | { readonly ok: true; readonly config: Config; readonly secretFiles: readonly SecretFile[] }
  | { readonly ok: false; readonly issues: readonly ConfigIssue[] };

/** The maximum number of discovered servers that are monitored, by default. */
export const DEFAULT_MAX_SERVERS = 15_000;
