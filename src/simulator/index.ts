export type { ServerInfo, Simulator, SimulatorOptions } from './api.ts';
export { DEMO_SERVERS, mixedServers } from './demo-servers.ts';
export type { CallRecord, FrameRecord, Recorder, RecordSnapshot } from './recorder.ts';
export type {
  Conflict,
  PowerAction,
  RestFault,
  ServerSpec,
  Settings,
  SocketAction,
  SocketFault,
  Temper,
  UsagePin,
} from './schema.ts';
export { startSimulator } from './simulator.ts';
