import { afterEach, describe, expect, it } from 'vitest';
import { configFile, endPrograms, runProgram } from '../support/program.ts';

const PASSWORD = 'TopSecretProxyPassword';

const YAML = [
  'panels:',
  '  - name: main',
  '    url: https://panel.example.com',
  '    api_key: ptlc_TopSecretKeyOfThisTest',
  '    servers: [{ id: 1a7ce997 }]',
].join('\n');

afterEach(endPrograms);

describe('an invalid proxy in the environment', () => {
  it.each([`http://me:${PASSWORD}@`, `socks5://me:${PASSWORD}@proxy.example.com:1080`])(
    'ends the start with one line, without the password: %s',
    async (address) => {
      const args = ['serve', '--config', await configFile(YAML), '--web.listen-address', '127.0.0.1:0'];
      const program = runProgram(args, { env: { HTTPS_PROXY: address } });
      const { code } = await program.ended;
      const form = 'expected the form http://proxy.example.com:3128';
      const line = `error: \`HTTPS_PROXY\` is not the URL of a proxy: ${form}\n`;
      expect({ code, stdout: program.stdout, stderr: program.stderr }).toEqual({
        code: 1,
        stdout: '',
        stderr: line,
      });
    },
  );
});
