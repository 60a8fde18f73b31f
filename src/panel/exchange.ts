import type { Dispatcher } from 'undici';
import type { Clock } from '../domain/clock.ts';
import type { RateHeaders } from './rate-headers.ts';

/** One GET. */
export interface Exchange {
  readonly origin: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  /** The whole call must be over by then, from the first look-up of a name to the last byte. */
  readonly deadlineMs: number;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

/** An answer with its whole body as text; of an error's body only as much as came and is worth reading. */
export interface Reply {
  readonly status: number;
  readonly contentType: string;
  readonly contentEncoding: string;
  readonly location?: string;
  readonly rate: RateHeaders;
  readonly text: string;
}

/** Trouble that is ours to detect; `code` sits beside the codes of Node and undici. */
class ExchangeError extends Error {
  readonly code: 'DEADLINE' | 'OVERSIZE';

  constructor(code: 'DEADLINE' | 'OVERSIZE', message: string) {
    super(message);
    this.code = code;
  }
}

/** Of an error's page no more is read than this. */
const MAX_ERROR_BYTES = 65_536;

/**
 * The answer to one GET. Rejects with the signal's reason when that aborts, and with whatever the transport
 * throws.
 */
export async function exchange(dispatcher: Dispatcher, request: Exchange): Promise<Reply> {
  request.signal.throwIfAborted();
  // Not AbortSignal.any: on Node 20 each call would leave a trace on a signal that lives for long.
  const scope = new AbortController();
  const withdraw = () => scope.abort(request.signal.reason);
  request.signal.addEventListener('abort', withdraw, { once: true });
  const cancelDeadline = request.clock.schedule(request.deadlineMs, () =>
    scope.abort(new ExchangeError('DEADLINE', 'the deadline passed')),
  );
  try {
    // undici looks at the signal only once it has a connection, so a hanging connect has to be left by a race.
    return await Promise.race([send(dispatcher, request, scope.signal), rejection(scope.signal)]);
  } finally {
    cancelDeadline();
    request.signal.removeEventListener('abort', withdraw);
  }
}

async function send(dispatcher: Dispatcher, request: Exchange, signal: AbortSignal): Promise<Reply> {
  const { origin, path, headers } = request;
  const response = await dispatcher.request({ origin, path, method: 'GET', headers, signal });
  const header = (name: string) => firstValue(response.headers[name]);
  const isSuccess = response.statusCode >= 200 && response.statusCode < 300;
  const text = isSuccess
    ? await readWhole(response.body, request.maxBytes)
    : await readSome(response.body, MAX_ERROR_BYTES);
  const location = header('location');
  return {
    status: response.statusCode,
    contentType: header('content-type') ?? '',
    contentEncoding: header('content-encoding') ?? '',
    ...(location !== undefined && { location }),
    rate: rateHeaders(header),
    text,
  };
}

async function readWhole(body: AsyncIterable<Buffer>, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxBytes) throw new ExchangeError('OVERSIZE', `the answer is longer than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return decodeText(chunks);
}

/** What the status says is known already, so that trouble with the body of an error costs only its words. */
async function readSome(body: AsyncIterable<Buffer>, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= maxBytes) break;
    }
  } catch {
    // The words that came before the trouble will do.
  }
  return decodeText(chunks).slice(0, maxBytes);
}

const decodeText = (chunks: readonly Buffer[]) => new TextDecoder().decode(Buffer.concat(chunks));

function rateHeaders(header: (name: string) => string | undefined): RateHeaders {
  const limit = header('x-ratelimit-limit');
  const remaining = header('x-ratelimit-remaining');
  const retryAfter = header('retry-after');
  const reset = header('x-ratelimit-reset');
  const date = header('date');
  return {
    ...(limit !== undefined && { limit }),
    ...(remaining !== undefined && { remaining }),
    ...(retryAfter !== undefined && { retryAfter }),
    ...(reset !== undefined && { reset }),
    ...(date !== undefined && { date }),
  };
}

const firstValue = (value: string | string[] | undefined) => (Array.isArray(value) ? value[0] : value);

function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason as Error);
    else signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}
