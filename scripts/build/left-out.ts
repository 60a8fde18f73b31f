// Replaces packages in the build that gamedig imports, but that no query needs: HTTP and telnet
// clients, and a decompressor without limits. Queries use the exporter's own network instead
// (src/query/network.ts), and fail on compressed responses.

/** Replaces got and seek-bzip. */
export default function leftOut(): never {
  throw new Error('this package is left out of the build');
}

/** Replaces the class of telnet-client, which every protocol instantiates. */
export function Telnet(): void {}
