// Web configurations and certificates in a temporary folder.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Authority, type Certificate, createAuthority } from './certificates.ts';

/** A web configuration with TLS. Its certificate and key are the files of `pairOf`. */
export const TLS = 'tls_server_config: { cert_file: server.crt, key_file: server.key }\n';

export const pairOf = ({ cert, key }: Certificate) => ({ 'server.crt': cert, 'server.key': key });

/** A temporary folder for a web configuration, and two certificates. */
export class WebConfigFiles {
  readonly first: Certificate;
  readonly second: Certificate;
  readonly #authority: Authority;
  #folder: string | undefined;

  private constructor(authority: Authority, [first, second]: readonly [Certificate, Certificate]) {
    this.#authority = authority;
    this.first = first;
    this.second = second;
  }

  static async create(): Promise<WebConfigFiles> {
    const authority = await createAuthority();
    const issue = () => authority.issue('IP:127.0.0.1');
    return new WebConfigFiles(authority, [await issue(), await issue()]);
  }

  /** Writes files into a new folder. Returns the path of the first file. */
  async write(contents: Readonly<Record<string, string>>): Promise<string> {
    await this.clear();
    this.#folder = await mkdtemp(join(tmpdir(), 'web-config-'));
    for (const [name, content] of Object.entries(contents)) await writeFile(this.path(name), content);
    return this.path(Object.keys(contents)[0] ?? '');
  }

  path(name: string): string {
    return join(this.#folder ?? '', name);
  }

  /** The text with paths that are relative to the folder. */
  relative(text: string): string {
    return text.replaceAll(`${this.#folder}/`, '');
  }

  async clear(): Promise<void> {
    if (this.#folder !== undefined) await rm(this.#folder, { recursive: true });
    this.#folder = undefined;
  }

  async end(): Promise<void> {
    await this.clear();
    await this.#authority.end();
  }
}
