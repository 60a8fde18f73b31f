import { Agent, get, type IncomingMessage, type RequestOptions } from 'node:http';

export type VisitorProgram = Awaited<ReturnType<typeof start>>;

/** For each loop, what it requests without a pause, one after the other. */
export type Loops = readonly (readonly string[])[];

/** Somebody with a browser or a script. */
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
    /** Loops until `end`; resolves with the responses per second. */
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
            // The exporter disconnects readers that fall behind; this one requests again.
          }
        }
      };
      await Promise.all(loops.map(loop));
      agent.destroy();
      return (responses / (performance.now() - startedAt)) * 1_000;
    },
    end: (): void => looping.abort(),
    /** Opens the page's stream, and reads it until the process ends. */
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
