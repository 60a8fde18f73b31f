import { describe, expect, it } from 'vitest';
import { type Machine, neededPrograms, providePrograms } from '../../support/install-programs.ts';

const PROMTOOL = ['test/integration/docs/queries.test.ts'];
const GAMES = ['test/e2e/query-servers.test.ts'];
const COMPUTED = ['test/unit/support/install-programs.test.ts'];

/** A machine with these files. Its apt-get knows the contents of these packages. */
function machine(files: readonly string[], contents: Readonly<Record<string, readonly string[]>> = {}) {
  const [present, lines, installed]: [Set<string>, string[], string[][]] = [new Set(files), [], []];
  const simulated: Machine = {
    has: (file) => present.has(file),
    install: async (packages) => {
      installed.push([...packages]);
      for (const name of packages) for (const file of contents[name] ?? []) present.add(file);
      return Object.keys(contents).length === 0 ? 'only root can' : undefined;
    },
    print: (line) => lines.push(line),
    isCi: false,
  };
  return { simulated, lines, installed };
}

describe('programs for tests', () => {
  it('are found where a test file or a helper that it imports names them', () => {
    expect([...neededPrograms(PROMTOOL)]).toEqual([['promtool', PROMTOOL]]);
    expect([...neededPrograms(GAMES).keys()].toSorted()).toEqual([
      'ddnet',
      'murmur',
      'openttd',
      'openttd-graphics',
      'teeworlds',
    ]);
    expect([...neededPrograms(COMPUTED)]).toEqual([]);
  });

  it('are not installed if no selected test needs one, or all are there', async () => {
    const bare = machine([]);
    expect(await providePrograms(COMPUTED, bare.simulated)).toEqual({});
    const full = machine(['promtool']);
    expect(await providePrograms(PROMTOOL, full.simulated)).toEqual({ promtool: true });
    expect([bare.installed, bare.lines, full.installed, full.lines]).toEqual([[], [], [], []]);
  });

  it('are installed together, each package once', async () => {
    const { simulated, installed, lines } = machine(['/usr/games/openttd'], {
      prometheus: ['prometheus', 'promtool'],
      'teeworlds-server': ['/usr/games/teeworlds-server'],
      'ddnet-server': ['/usr/games/DDNet-Server'],
      'mumble-server': ['/usr/sbin/murmurd'],
      'openttd-opengfx': ['/usr/share/games/openttd/baseset/opengfx/opengfx.obg'],
    });
    const files = [...PROMTOOL, ...GAMES, 'test/e2e/prometheus.test.ts'];
    expect(Object.values(await providePrograms(files, simulated))).not.toContain(false);
    expect(installed).toEqual([
      ['ddnet-server', 'mumble-server', 'openttd-opengfx', 'prometheus', 'teeworlds-server'],
    ]);
    expect(lines).toEqual([]);
  });

  it('that stay missing are named in a line with the tests, and fail the run where CI is set', async () => {
    const { simulated, lines } = machine([]);
    expect(await providePrograms(PROMTOOL, simulated)).toEqual({ promtool: false });
    expect(lines).toEqual([
      'SKIPPED because of missing programs: promtool (only root can): tests in test/integration/docs/queries.test.ts',
    ]);
    await expect(providePrograms(PROMTOOL, { ...simulated, isCi: true })).rejects.toThrow(
      'missing programs: promtool (only root can); with CI=true, tests must not be skipped',
    );
  });
});
