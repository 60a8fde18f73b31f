// A certificate authority for tests, made with OpenSSL.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import PQueue from 'p-queue';

const run = promisify(execFile);

/** A certificate and its key, as PEM texts. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** A certificate authority. */
export interface Authority {
  /** The file with the authority's certificate, for `ca_file`. */
  readonly file: string;
  /** Issues a certificate for a subject alternative name, such as `IP:127.0.0.1`. */
  issue(altName: string, validity?: keyof typeof VALIDITY, kind?: keyof typeof KEYS): Promise<Certificate>;
  /** Removes the authority's files. */
  end(): Promise<void>;
}

const CONFIGURATION = `[ca]
default_ca = own
[own]
database = index
serial = serial
new_certs_dir = issued
default_md = sha256
policy = any
[any]
commonName = supplied
`;

/** Validity periods in the format of `openssl ca`, in UTC. */
const VALIDITY = {
  valid: { from: '200101000000Z', to: '490101000000Z' },
  expired: { from: '200101000000Z', to: '200102000000Z' },
  'not yet valid': { from: '480101000000Z', to: '490101000000Z' },
} as const;

/** OpenSSL's options for a new key of each kind. */
const KEYS = {
  ec: '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes',
  rsa: '-newkey rsa:2048 -nodes',
} as const;

/** Creates an authority in a new folder. */
export async function createAuthority(): Promise<Authority> {
  const folder = await mkdtemp(join(tmpdir(), 'authority-'));
  const openssl = (command: string, ...more: string[]) =>
    run('openssl', [...command.split(' '), ...more], { cwd: folder });
  await mkdir(join(folder, 'issued'));
  await writeFile(join(folder, 'ca.cnf'), CONFIGURATION);
  await writeFile(join(folder, 'index'), '');
  await openssl(`req -x509 ${KEYS.ec} -days 1 -subj /CN=authority -keyout ca.key -out ca.pem`);
  // One at a time, because OpenSSL doesn't lock an authority's database.
  const signing = new PQueue({ concurrency: 1 });
  let issued = 0;
  return {
    file: join(folder, 'ca.pem'),
    issue: async (altName, validity = 'valid', kind = 'ec') => {
      issued += 1;
      const name = `leaf-${issued}`;
      const { from, to } = VALIDITY[validity];
      await writeFile(join(folder, `${name}.ext`), `subjectAltName=${altName}\n`);
      await openssl(`req -new ${KEYS[kind]} -subj /CN=${name} -keyout ${name}.key -out ${name}.csr`);
      const how = `ca -batch -notext -create_serial -config ca.cnf -cert ca.pem -keyfile ca.key -startdate ${from} -enddate ${to}`;
      await signing.add(() =>
        openssl(how, '-extfile', `${name}.ext`, '-in', `${name}.csr`, '-out', `${name}.pem`),
      );
      const read = (ending: string) => readFile(join(folder, `${name}.${ending}`), 'utf8');
      return { cert: await read('pem'), key: await read('key') };
    },
    end: () => rm(folder, { recursive: true }),
  };
}
