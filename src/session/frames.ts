import type { Sample } from '../domain/sample.ts';
import { parseServerState, type ServerState } from '../domain/state.ts';
import type { PanelTelemetry } from '../domain/telemetry.ts';
import { decodeStats } from '../panel/decode.ts';
import { decodeFrame, isConsoleFrame, isCuredByNewToken, type ServerMessage } from './protocol.ts';

/** Who is told what a frame says; what a session doesn't act upon is only counted. */
export interface FrameHandler {
  readonly telemetry: PanelTelemetry;
  consoleLine(): void;
  stats(sample: Sample): void;
  status(state: ServerState): void;
  authenticated(): void;
  /** `token expiring` or `token expired`. */
  tokenEnding(): void;
  jwtError(text: string, curable: boolean): void;
}

/** Reads one frame and tells the handler; never throws for what the frame holds. */
export function handleFrame(frame: Buffer, isBinary: boolean, handler: FrameHandler): void {
  if (isBinary) {
    handler.telemetry.badMessage('binary');
    return;
  }
  if (isConsoleFrame(frame)) {
    handler.telemetry.message('console output');
    handler.consoleLine();
    return;
  }
  const message = decodeFrame(frame);
  if ('bad' in message) {
    handler.telemetry.badMessage(message.bad);
    return;
  }
  handler.telemetry.message(message.event);
  handleMessage(message, handler);
}

function handleMessage({ event, args }: ServerMessage, handler: FrameHandler): void {
  const [first] = args;
  switch (event) {
    case 'stats':
      handleStats(first, handler);
      break;
    case 'status':
      if (first === undefined) handler.telemetry.badMessage('bad_shape');
      else handler.status(parseServerState(first));
      break;
    case 'console output':
      handler.consoleLine();
      break;
    case 'auth success':
      handler.authenticated();
      break;
    case 'token expiring':
    case 'token expired':
      handler.tokenEnding();
      break;
    case 'jwt error':
      handler.jwtError(first ?? '', isCuredByNewToken(first ?? ''));
      break;
    default:
      break;
  }
}

function handleStats(payload: string | undefined, handler: FrameHandler): void {
  if (payload === undefined) {
    handler.telemetry.badMessage('bad_shape');
    return;
  }
  let value: unknown;
  try {
    value = JSON.parse(payload);
  } catch {
    handler.telemetry.badMessage('not_json');
    return;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    handler.telemetry.badMessage('bad_shape');
    return;
  }
  const { sample, badFields } = decodeStats(value);
  for (let bad = 0; bad < badFields; bad += 1) handler.telemetry.badMessage('bad_field');
  handler.stats(sample);
}
