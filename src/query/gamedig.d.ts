// The package has no types; these cover only what is used.
declare module 'gamedig' {
  /** One query with one protocol: `run` sends requests through methods of its base class and decodes the responses. */
  export interface Protocol {
    run(state: object): Promise<void>;
    /** Returns a reader of bytes at a position; the number of remaining bytes is negative beyond the end. */
    reader(buffer: Buffer): { remaining(): number };
  }

  export interface Game {
    readonly name: string;
    readonly options: {
      readonly protocol: string;
      /** The port that players connect to, by default. */
      readonly port?: number;
      /** The port that responds to queries, by default. */
      readonly port_query?: number;
      /** Alternatively, what is added to `port` to get it. */
      readonly port_query_offset?: number | readonly number[];
    };
  }

  export const games: Readonly<Record<string, Game>>;

  type Words<Text> = Text extends `${infer Word} ${infer Rest}` ? Word | Words<Rest> : Text;
  type Name =
    | Words<'armagetron ase assettocorsa buildandshoot cs2d dayz doom3 eco eldewrito ffow fivem'>
    | Words<'gamespy1 gamespy2 gamespy3 goldsrc gtasao hexen2 hytale jc2mp mafia2mp mafia2online'>
    | Words<'mumbleping openttd quake1 quake2 rfactor samp satisfactory savage2 sdtd soldat starmade'>
    | Words<'starsiege teamspeak2 teamspeak3 toxikk tribes1 unreal2 ut3 valve vcmp ventrilo'>;

  export const protocols: Readonly<Record<Name, new () => Protocol>>;
}
