// A visitor of the exporter's page and API, as a program of the benchmarks.

import { Agent, get, type IncomingMessage, type RequestOptions } from 'node:http';

export type VisitorProgram = Awaited<ReturnType<typeof start>>;

/** The paths of each loop, which requests them one after the other without a pause. */
export type Loops = readonly (readonly string[])[];

/** Starts a visitor, who may be a person with a browser or a script. */
export async function start({
  url,
  authorization,
}: {
  readonly url: string;
  readonly authorization?: string;
}) {
  const headers = authorization === undefined ? {} : { authorization };
  let viewer: IncomingMessage | undefined;
  let looping = new AbortController();
  return {
    /** Runs the loops until `end` is called. Resolves with the responses per second. */
    loop: async (loops: Loops): Promise<number> => {
      const agent = new Agent({ keepAlive: true });
      const startedAt = performance.now();
      let responses = 0;
      looping = new AbortController();
      const { signal } = looping;
      const loop = async (own: readonly string[]) => {
        for (let turn = 0; !signal.aborted; turn += 1) {
          try {
            for await (const _ of await request(`${url}${own[turn % own.length] ?? '/'}`, {
              agent,
              headers,
            }));
            responses += 1;
          } catch {
            // The exporter disconnects clients that read too slowly. The loop then continues.
          }
        }
      };
      await Promise.all(loops.map(loop));
      agent.destroy();
      return (responses / (performance.now() - startedAt)) * 1_000;
    },
    end: (): void => looping.abort(),
    /** Opens the page's stream, and reads it until `leave` is called. */
    view: async (): Promise<void> => {
      viewer = await request(`${url}/api/v1/stream`, { headers });
      viewer.resume();
    },
    leave: (): void => void viewer?.destroy(),
  };
}

function request(address: string, options: RequestOptions): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(address, options, resolve).on('error', reject);
  });
}
