import { type Simulator, type SimulatorOptions, startSimulator } from '../simulator/index.ts';
import { CommandFailure } from './failure.ts';

/** The flags by which a command's user chooses the simulated panel's ports. */
export interface PortFlags {
  readonly port: string;
  readonly controlPort: string;
}

/** Starts a simulated panel; a port that can't be had is a CommandFailure that names the flag to change. */
export async function startSimulatedPanel(options: SimulatorOptions, flags: PortFlags): Promise<Simulator> {
  try {
    return await startSimulator(options);
  } catch (error) {
    const { code, port } = error as NodeJS.ErrnoException & { port?: number };
    if ((code !== 'EADDRINUSE' && code !== 'EACCES') || port === undefined) throw error;
    const flag = port === options.port ? flags.port : flags.controlPort;
    throw new CommandFailure(`port ${port} ${portTrouble(code)}; choose another with ${flag}`, {
      cause: error,
    });
  }
}

/** Why a port can't be had, in words. */
export function portTrouble(code: 'EADDRINUSE' | 'EACCES'): string {
  return code === 'EADDRINUSE' ? 'is taken by another program' : 'may not be opened by this user';
}

/** A configuration for the exporter that observes everything that a simulated panel has. */
export function simulatorConfig(panel: Simulator): string {
  const lines = [
    `# simulated panel: ${panel.url}`,
    `# second node (moved servers): ${panel.secondNodeUrl}`,
    `# control endpoint: ${panel.controlUrl}/control`,
    'panels:',
    '  - name: simulated',
    `    url: ${panel.url}`,
    `    api_key: ${JSON.stringify(panel.apiKey)}`,
    '    servers:',
  ];
  for (const { name, temper, uuid, limits } of panel.servers) {
    lines.push(
      `      - id: ${uuid}`,
      `        name: ${JSON.stringify(name)}`,
      `        limits: { ${limitsText(limits)} }`,
    );
    // Nobody expects these to run, so no alert should say that they don't.
    if (temper === 'offline' || temper === 'suspended') lines.push('        expect: any');
  }
  return lines.join('\n');
}

// The memory limit comes by the socket, unless there is none: then the socket tells the node's memory.
function limitsText({ memory, disk, cpu }: Simulator['servers'][number]['limits']): string {
  const limits = [
    `disk: ${disk === 0 ? 'unlimited' : `${disk}MiB`}`,
    `cpu_cores: ${cpu === 0 ? 'unlimited' : cpu / 100}`,
  ];
  return (memory === 0 ? ['memory: unlimited', ...limits] : limits).join(', ');
}
