import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { ECHOES } from '../../support/echoes.ts';
import { eventually } from '../../support/eventually.ts';
import { type ExporterUnderTest, startExporter } from '../../support/exporter.ts';
import { pageData } from '../../support/page-data.ts';
import { yamlOf } from '../../support/stage.ts';
import { envelope, json, page, type ScriptedServer, scriptedServer } from '../panel/scripted-server.ts';
import { frame } from './hostile-panel.ts';

/** A key with 49 characters and no prefix, and a token. */
const KEY = 'q7Rk2mXw9Tz4Lc8Vb1Np6Hs3/Jd5Fg0Ya+QeUoIiWrTyKxMnE=';
const TOKEN = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJUb3BTZWNyZXQifQ.VG9wU2VjcmV0VG9wU2VjcmV0';

/** A server for each secret and each form of it. */
const KINDS = [KEY, TOKEN].flatMap((secret) => Object.values(ECHOES).map((echoed) => echoed(secret)));

const uuidOf = (index: number) => `${index.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`;

let panel: ScriptedServer;
let exporter: ExporterUnderTest;

/**
 * Two servers with a visible secret. Three redirected servers would be a problem of the whole
 * panel.
 */
const REDIRECTED = new Set(['in upper case', 'in JSON'].map((name) => Object.keys(ECHOES).indexOf(name)));

/** The responses for a server, each of which contains the secret in another kind of text. */
function credentials(index: number, echoed: string, host: string) {
  const token = { token: TOKEN, socket: `ws://${host}/${index}` };
  const named = { token: TOKEN, socket: `wss://${echoed}.example.com/ws` };
  if (REDIRECTED.has(index)) return json(302, {}, { location: `http://127.0.0.1:9/${encodeURI(echoed)}` });
  const answers = [
    json(403, envelope(`the key ${echoed} is not valid`)),
    page(502, `Authorization: Bearer ${echoed}`),
    json(200, { data: named }),
    json(200, { data: token }),
    json(200, { data: token }),
  ];
  return answers[index % answers.length] ?? json(500, {});
}

function listed(index: number, echoed: string) {
  return {
    attributes: {
      uuid: uuidOf(index),
      identifier: uuidOf(index).slice(0, 8),
      name: `server ${index} ${echoed}`,
      node: `node ${index} ${echoed}`,
      relationships: {
        egg: { attributes: { name: `egg ${echoed}` } },
        allocations: {
          data: [{ attributes: { ip: '203.0.113.7', ip_alias: echoed, port: 1, is_default: true } }],
        },
      },
    },
  };
}

function answer(response: ServerResponse, request: IncomingMessage): void {
  const { url = '', headers } = request;
  const [, id] = /servers\/([0-9a-f]{8})/.exec(url) ?? [];
  if (id === undefined) {
    const data = KINDS.map((echoed, index) => listed(index, echoed));
    json(200, { data, meta: { pagination: { total_pages: 1 } } })(response, request);
    return;
  }
  const index = Number.parseInt(id, 16);
  const echoed = KINDS[index] ?? '';
  const reply = url.endsWith('/websocket')
    ? credentials(index, echoed, headers.host ?? '')
    : json(500, envelope(`it was ${echoed}`));
  reply(response, request);
}

const shown = async () => {
  const paths = ['/metrics', '/api/v1/servers', '/api/v1/sd'];
  const answers = await Promise.all(
    paths.map(async (path) => (await fetch(`${exporter.url}${path}`)).text()),
  );
  return [...answers, await pageData(exporter.url), JSON.stringify(exporter.lines)].join('\n');
};

beforeAll(async () => {
  panel = await scriptedServer(answer);
  const acceptor = new WebSocketServer({ noServer: true });
  panel.server.on('upgrade', (request, socket, head) => {
    acceptor.handleUpgrade(request, socket, head, (ws) => {
      const echoed = KINDS[Number(request.url?.slice(1))] ?? '';
      ws.on('error', () => undefined);
      ws.once('message', () => {
        if (Number(request.url?.slice(1)) % 2 === 0) ws.close(4000, echoed);
        else ws.send(frame('jwt error', `the token ${echoed} is not valid`));
      });
    });
  });
  exporter = await startExporter({
    yaml: yamlOf({ url: panel.url, apiKey: KEY }, ['requests_per_minute: 60000', 'discover: {}']),
  });
  await eventually(async () => {
    const { servers } = (await (await fetch(`${exporter.url}/api/v1/servers`)).json()) as {
      servers: { trouble?: string }[];
    };
    expect(servers).toHaveLength(KINDS.length);
    expect(servers.filter(({ trouble }) => trouble === undefined)).toEqual([]);
  });
});

afterAll(async () => {
  await exporter.stop();
  await panel.close();
});

describe('a panel that repeats the key and the token', () => {
  it("doesn't reveal them in the log, metrics, page or JSON", async () => {
    const text = await shown();
    expect(text).toContain('<secret>');
    const remaining = KINDS.filter((echoed) => text.includes(echoed));
    expect(remaining).toEqual([]);
  });

  it("still shows each server's problem", async () => {
    const text = await shown();
    expect(text).toContain('the key <secret> is not valid');
    expect(text).toContain('redirect to http://127.0.0.1:9/<secret>');
    expect(text).toContain('the token <secret> is not valid');
  });
});
