// Replaces, in the build, packages that gamedig imports but that no query of the exporter uses: HTTP and telnet clients, and a
// decompressor without limits. The exporter's own network replaces them (src/query/network.ts), and compressed responses are ignored.

/** Replaces got and seek-bzip. */
export default function leftOut(): never {
  throw new Error('this package is left out of the build');
}

/** Replaces telnet-client's class, which every protocol instantiates. */
export function Telnet(): void {}
