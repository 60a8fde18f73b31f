// Stands in the build for packages that gamedig imports and no query of ours reaches: HTTP and telnet clients, a client of XML-RPC, and a
// decompressor without bounds. Sockets and HTTP are the exchange's, and what is compressed is ignored.

/** In place of got and seek-bzip. */
export default function leftOut(): never {
  throw new Error('this package is left out of the build');
}

/** In place of telnet-client's; every protocol creates one. */
export class Telnet {}

/** In place of gbxremote's. */
export class Client {}
