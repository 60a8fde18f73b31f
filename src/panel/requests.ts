/** The requests to a panel's endpoints. */
import type { ListingType } from '../domain/listing-settings.ts';
import type { ServerTarget } from '../domain/server.ts';
import type { ApiEndpoint } from '../domain/telemetry.ts';
import type { Responses } from './responses.ts';

/** The available requests. */
export type Requests = {
  readonly [Endpoint in ApiEndpoint]: (what: RequestArguments) => PanelRequest<Responses[Endpoint]>;
};

/** A GET request and the decoder of its response. */
export interface PanelRequest<T> {
  /** Path and query, relative to the panel's base address. */
  readonly path: string;
  /** Decodes the response. Throws a ShapeError if it has another shape. */
  readonly decode: (body: unknown) => T;
}

/** The parameters of a call that its endpoint needs. The default query is the shortest list. */
export interface RequestArguments extends Partial<ServerAddress>, Partial<ListingQuery> {}

/** The identifiers of a server in the paths and responses of its endpoints. */
export type ServerAddress = Pick<ServerTarget, 'id' | 'daemon' | 'uuid' | 'nodeId'>;

/** Which page of the server list to request, and of whose servers. */
export interface ListingQuery {
  readonly page: number;
  /** At most 100. */
  readonly perPage: number;
  readonly type?: ListingType;
}
