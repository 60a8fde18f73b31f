export type { Simulator, SimulatorOptions } from './api.ts';
export { DEMO_SERVERS, mixedServers } from './demo-servers.ts';
export type { RecordSnapshot } from './recorder.ts';
export type { RestFault, ServerSpec } from './schema.ts';
export { startSimulator } from './simulator.ts';
