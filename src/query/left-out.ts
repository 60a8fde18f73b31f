// Stands in the build for packages that gamedig imports and no query of ours reaches: clients of HTTP and telnet, and a decompressor without
// bounds. Sockets and HTTP are the exchange's, and what is compressed is ignored.

/** In place of got and seek-bzip. */
export default function leftOut(): never {
  throw new Error('this package is left out of the build');
}

/** In place of telnet-client's class: every protocol creates one. */
export function Telnet(): void {}
