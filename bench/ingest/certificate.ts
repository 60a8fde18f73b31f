// Creates the certificates of benchmarks with TLS.

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Creates a self-signed PEM certificate for this machine in a folder; rejects if openssl is
 * missing.
 */
export async function selfSigned(folder: string): Promise<{ readonly cert: string; readonly key: string }> {
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const how = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=benchmark';
  const where = ['-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost', '-out', cert, '-keyout', key];
  await run('openssl', [...how.split(' '), ...where]);
  return { cert: await readFile(cert, 'utf8'), key: await readFile(key, 'utf8') };
}
