// The port through which the exporter logs.

/** The part of a pino logger that the program uses. Tests pass a logger that collects lines. */
export type Logger = Readonly<
  Record<'debug' | 'info' | 'warn' | 'error', (fields: object, message: string) => void>
>;
