import { Agent, get, type IncomingMessage } from 'node:http';

export type VisitorProgram = Awaited<ReturnType<typeof start>>;

/** Requests that are repeated without a pause. */
export interface Loops {
  /** Each loop requests one of them after the other. */
  readonly paths: readonly (readonly string[])[];
  readonly seconds: number;
}

/** Somebody with a browser or a script. */
export async function start({ url }: { readonly url: string }) {
  let viewer: IncomingMessage | undefined;
  return {
    /** Resolves with the number of responses. */
    loop: async ({ paths, seconds }: Loops): Promise<number> => {
      const agent = new Agent({ keepAlive: true });
      const end = performance.now() + seconds * 1_000;
      let responses = 0;
      const loop = async (own: readonly string[]) => {
        for (let turn = 0; performance.now() < end; turn += 1) {
          try {
            for await (const _ of await request(`${url}${own[turn % own.length] ?? '/'}`, agent));
            responses += 1;
          } catch {
            // The exporter disconnects readers that fall behind; this one requests again.
          }
        }
      };
      await Promise.all(paths.map(loop));
      agent.destroy();
      return responses;
    },
    /** Opens the page's stream, and reads it until the process ends. */
    view: async (): Promise<void> => {
      viewer = await request(`${url}/api/v1/stream`);
      viewer.resume();
    },
    leave: (): void => void viewer?.destroy(),
  };
}

function request(address: string, agent?: Agent): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(address, { ...(agent && { agent }) }, resolve).on('error', reject);
  });
}
