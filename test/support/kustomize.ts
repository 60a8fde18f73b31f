// Renders Kubernetes manifests with kubectl.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';

const run = promisify(execFile);

/**
 * The oldest major version of kustomize that supports the features in use, such as `labels` and
 * components.
 */
const NEEDED_KUSTOMIZE = 5;

const versionSchema = z.object({ kustomizeVersion: z.string().regex(/^v\d+\./) });

const manifestSchema = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({
    name: z.string(),
    namespace: z.string().optional(),
    labels: z.record(z.string(), z.string()).optional(),
  }),
});

/** A rendered resource. */
export type Manifest = z.infer<typeof manifestSchema>;

/**
 * Whether kubectl can render the manifests. If not, the names of the skipped tests are printed to
 * standard error. kubectl may be missing even with `CI=true`, because Debian's version is too old.
 * With `KUBECTL=required`, this throws instead.
 */
export async function hasKustomize(): Promise<boolean> {
  const trouble = await kustomizeTrouble();
  if (trouble === undefined) return true;
  if (process.env['KUBECTL'] === 'required')
    throw new Error(`${trouble}; with KUBECTL=required, tests must not be skipped`);
  process.stderr.write(
    `\nSKIPPED because of missing programs: kubectl (${trouble}): tests that render Kubernetes manifests\n\n`,
  );
  return false;
}

async function kustomizeTrouble(): Promise<string | undefined> {
  const output = await run('kubectl', ['version', '--client', '--output=json']).catch(
    (error: unknown) => error,
  );
  if (output instanceof Error) return `kubectl can't be run (${output.message.split('\n', 1)[0]})`;
  const parsed = versionSchema.safeParse(JSON.parse((output as { stdout: string }).stdout));
  const version = parsed.data?.kustomizeVersion;
  const isRecent = Number(/\d+/.exec(version ?? '')?.[0] ?? 0) >= NEEDED_KUSTOMIZE;
  return isRecent
    ? undefined
    : `kubectl has kustomize ${version ?? 'without a version'}, not v${NEEDED_KUSTOMIZE}`;
}

/**
 * The resources that `kubectl apply --kustomize` would apply. Rejects if kustomize fails or warns.
 */
export async function renderKustomization(folder: string): Promise<readonly Manifest[]> {
  const { stdout, stderr } = await run('kubectl', ['kustomize', folder], { maxBuffer: 16 * 1024 * 1024 });
  if (stderr !== '') throw new Error(`kubectl kustomize ${folder}: ${stderr}`);
  return parseAllDocuments(stdout).map((document) => manifestSchema.parse(document.toJS()));
}
