import { afterEach, describe, expect, it } from 'vitest';
import { acceleratedNode } from '../support/accelerated-node.ts';
import { freePort } from '../support/free-port.ts';
import { Answerer } from '../support/game-answers.ts';
import { configFile, endPrograms, metricsAt, runProgram, serveProgram } from '../support/program.ts';

/** A panel on a port without a listener. It is the lowest port, which the system never assigns. */
const YAML = [
  'panels:',
  '  - name: main',
  '    url: http://127.0.0.1:1',
  '    api_key: ptlc_TopSecretKeyOfThisTest',
  '    servers: [{ id: 1a7ce997, name: survival }]',
].join('\n');

afterEach(endPrograms);

describe('serve', () => {
  it('reports a port in use in one line', async () => {
    await using occupant = await Answerer.tcp(() => {});
    const { port } = occupant;
    const file = await configFile(YAML);
    const listen = ['--web.listen-address', `127.0.0.1:${port}`];
    const program = runProgram(['serve', '--config', file, ...listen]);
    expect(await program.ended).toMatchObject({ code: 1 });
    expect(program.stdout).toBe('');
    expect(program.stderr).toBe(
      `error: cannot listen on 127.0.0.1:${port}: port ${port} is already in use; stop the program that uses it, or choose another port with --web.listen-address\n`,
    );
  });

  it('responds even if the panel is down', async () => {
    const { scrape, until } = await serveProgram({ yaml: YAML });
    await scrape();
    await until('gameserver_panel_up', { panel: 'main' }, [0]);
    await until('gameserver_collection_up', { server: 'survival' }, [0]);
  });
});

describe('logs', () => {
  const UNREACHABLE = /panel main \(.*\): unreachable/;

  /** Faster, because a panel is only down after two failed rounds of calls, 15 seconds apart. */
  const nodeFlags = acceleratedNode(10);

  it('are JSON unless they go to a terminal', async () => {
    const { process } = await serveProgram({ yaml: YAML, nodeFlags });
    await process.printed(UNREACHABLE);
    const lines = process.stderr.trimEnd().split('\n');
    const messages = lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
    expect(messages).toContainEqual(expect.stringMatching(UNREACHABLE));
    expect(process.stdout).toBe('');
  });

  it('are pretty on request, and the flag takes precedence over the configuration', async () => {
    const yaml = `${YAML}\nlog: { format: json }`;
    const { process } = await serveProgram({ yaml, flags: ['--log.format', 'pretty'], nodeFlags });
    await process.printed(UNREACHABLE);
    expect(process.stderr).not.toMatch(/^\{/m);
    expect(process.stderr).toMatch(/INFO.*serving metrics on/);
  });

  it('have the level of the flag, which takes precedence', async () => {
    const port = await freePort();
    const file = await configFile(`${YAML}\nlog: { level: debug }`);
    const listen = ['--web.listen-address', `127.0.0.1:${port}`];
    const program = runProgram(['serve', '--config', file, ...listen, '--log.level', 'error'], { nodeFlags });
    await program.printed(UNREACHABLE);
    const { until } = metricsAt(`http://127.0.0.1:${port}`);
    await until('gameserver_panel_up', { panel: 'main' }, [0]);
    const levels = program.stderr
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { level: string }).level);
    expect(new Set(levels)).toEqual(new Set(['error']));
  });
});
