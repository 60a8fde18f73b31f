import { readFile } from 'node:fs/promises';

/** What came of reading a file; `problem` goes behind "can't be read: ". */
export type FileResult =
  | { readonly ok: true; readonly content: string }
  | { readonly ok: false; readonly problem: string };

/** The file's text, or why it can't be read. */
export async function readTextFile(file: string): Promise<FileResult> {
  try {
    // Text that is not UTF-8 would go on as replacement characters: a key that nobody can find fault with.
    return { ok: true, content: new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file)) };
  } catch (error) {
    return { ok: false, problem: readProblem(error) };
  }
}

function readProblem(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return 'there is no such file';
    case 'EISDIR':
      return 'it is a directory';
    case 'EACCES':
    case 'EPERM':
      return 'permission denied';
    case 'ERR_ENCODING_INVALID_ENCODED_DATA':
      return 'it is not UTF-8 text';
    default:
      return typeof code === 'string' ? code : 'unknown error';
  }
}
