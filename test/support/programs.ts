// Other programs that tests run.

/** A program in a Debian package. */
interface Program {
  readonly package: string;
  /** The program's name in the path, or the path of one of the package's files. */
  readonly file: string;
}

export const PROGRAMS = {
  amtool: { package: 'prometheus-alertmanager', file: 'amtool' },
  'blackbox-exporter': { package: 'prometheus-blackbox-exporter', file: 'prometheus-blackbox-exporter' },
  chromium: { package: 'chromium', file: '/usr/bin/chromium' },
  ddnet: { package: 'ddnet-server', file: '/usr/games/DDNet-Server' },
  // Debian 12 contains version 1.3.
  murmur: { package: 'mumble-server', file: '/usr/sbin/murmurd' },
  openttd: { package: 'openttd', file: '/usr/games/openttd' },
  'openttd-graphics': {
    package: 'openttd-opengfx',
    file: '/usr/share/games/openttd/baseset/opengfx/opengfx.obg',
  },
  'prometheus-alertmanager': { package: 'prometheus-alertmanager', file: 'prometheus-alertmanager' },
  prometheus: { package: 'prometheus', file: 'prometheus' },
  promtool: { package: 'prometheus', file: 'promtool' },
  script: { package: 'bsdutils', file: 'script' },
  'systemd-analyze': { package: 'systemd', file: 'systemd-analyze' },
  teeworlds: { package: 'teeworlds-server', file: '/usr/games/teeworlds-server' },
  tinyproxy: { package: 'tinyproxy-bin', file: 'tinyproxy' },
} as const satisfies Record<string, Program>;

export type ProgramName = keyof typeof PROGRAMS;
