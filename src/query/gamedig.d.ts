// The package has no types; these cover only what is used.
declare module 'gamedig' {
  /** A reader of bytes at a position. */
  export interface Reader {
    readonly buffer: Buffer;
    offset(): number;
  }

  /** What a protocol fills in. */
  export interface State {
    numplayers: unknown;
    maxplayers: unknown;
    readonly players: { readonly length: number };
    readonly raw: Record<string, unknown>;
  }

  /** One query with one protocol: `run` sends requests through methods of its base class and decodes the answers. */
  export interface Protocol {
    options: Record<string, unknown>;
    readonly byteorder: 'be' | 'le';
    run(state: State): Promise<void>;
    reader(buffer: Buffer): Reader;
    tcpPing(): Promise<void>;
    telnetConnect(): Promise<void>;
    udpSend<Result>(
      request: Buffer | string,
      onDatagram?: (datagram: Buffer) => Result | undefined,
      onSilence?: () => Result | undefined,
    ): Promise<Result | null>;
    withTcp<Result>(talk: (connection: never) => Promise<Result>, port?: number): Promise<Result>;
    tcpSend<Result>(
      connection: never,
      request: Buffer | string,
      onBytes: (bytes: Buffer) => Result | undefined,
    ): Promise<Result>;
    request(parameters: HttpParameters): Promise<unknown>;
  }

  export interface HttpParameters {
    readonly url: string;
    readonly method?: 'GET' | 'POST';
    readonly headers?: Readonly<Record<string, string>>;
    readonly json?: unknown;
    readonly responseType?: 'json' | 'text';
  }

  export interface Game {
    readonly name: string;
    readonly options: {
      readonly protocol: string;
      /** The port that players connect to, by default. */
      readonly port?: number;
      /** The port that answers queries, by default. */
      readonly port_query?: number;
      /** Alternatively, what is added to `port` to get it. */
      readonly port_query_offset?: number | readonly number[];
    };
  }

  export const games: Readonly<Record<string, Game>>;

  type Name =
    | 'armagetron'
    | 'ase'
    | 'assettocorsa'
    | 'buildandshoot'
    | 'cs2d'
    | 'dayz'
    | 'doom3'
    | 'eco'
    | 'eldewrito'
    | 'ffow'
    | 'fivem'
    | 'gamespy1'
    | 'gamespy2'
    | 'gamespy3'
    | 'goldsrc'
    | 'gtasao'
    | 'hexen2'
    | 'hytale'
    | 'jc2mp'
    | 'mafia2mp'
    | 'mafia2online'
    | 'minecraftbedrock'
    | 'minecraftvanilla'
    | 'mumbleping'
    | 'openttd'
    | 'quake1'
    | 'quake2'
    | 'quake3'
    | 'rfactor'
    | 'samp'
    | 'satisfactory'
    | 'savage2'
    | 'sdtd'
    | 'soldat'
    | 'starmade'
    | 'starsiege'
    | 'teamspeak2'
    | 'teamspeak3'
    | 'toxikk'
    | 'tribes1'
    | 'unreal2'
    | 'ut3'
    | 'valve'
    | 'vcmp'
    | 'ventrilo'
    | 'warsow'
    | 'xonotic';

  export const protocols: Readonly<Record<Name, new () => Protocol>>;
}
