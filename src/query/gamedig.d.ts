// Types for the parts of gamedig that the exporter uses.

// The package has no types. These cover only the used parts.
declare module 'gamedig' {
  /**
   * One query with one protocol. `run` sends requests through methods of its base class and decodes
   * the responses.
   */
  export interface Protocol {
    run(state: object): Promise<void>;
    /** Returns a reader of bytes. Beyond the end, the number of remaining bytes is negative. */
    reader(buffer: Buffer): { remaining(): number };
  }

  export interface Game {
    readonly name: string;
    readonly options: {
      readonly protocol: string;
      readonly port?: number;
      readonly port_query?: number;
      readonly port_query_offset?: number | readonly number[];
    };
  }

  export const games: Readonly<Record<string, Game>>;
  export const protocols: Readonly<Record<string, new () => Protocol>>;
}
