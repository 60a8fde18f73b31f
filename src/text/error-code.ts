// The code of an error of the system or of Node.js.

/** The code, such as `ENOENT`; `unknown error` if it has none. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}
