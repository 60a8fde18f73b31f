// Game servers that can't be queried.
import type { CauseCode } from '../../../src/domain/problems.ts';
import type { Answer } from '../../../src/query/query-model.ts';
import type { AllocationSpec } from '../../../src/simulator/simulator-schema.ts';

/** A running game server without a result of its query. */
export interface QueryRow {
  readonly name: string;
  readonly cause: CauseCode;
  /** The default allocation; by default, one with a public address. */
  readonly allocation?: AllocationSpec | null;
  readonly nodeAddress?: string;
  /** The result of the query, if it is sent. */
  readonly outcome?: Answer;
  /** The egg, which determines the query type. */
  readonly egg?: string;
}

const failed = (cause: CauseCode, detail: string): Answer => ({ query_problem: { cause, detail } });

export const QUERY_ROWS: readonly QueryRow[] = [
  { name: 'a game that hangs', cause: 'query_no_answer', outcome: failed('query_no_answer', 'no response') },
  {
    name: 'a port that nothing listens on',
    cause: 'query_refused',
    outcome: failed('query_refused', 'nothing listens there'),
  },
  {
    name: 'another game on the port',
    cause: 'query_wrong_protocol',
    outcome: failed('query_wrong_protocol', "responded, but not in the game's protocol"),
  },
  {
    name: 'a game that responds with a byte a second',
    cause: 'query_timed_out',
    outcome: failed('query_timed_out', 'the response was not complete in time'),
  },
  {
    name: 'a game whose type is a guess, and that never responds',
    cause: 'query_never_answered',
    outcome: failed('query_no_answer', 'no response'),
    egg: 'Paper',
  },
  { name: 'a server without an allocation', cause: 'query_address_missing', allocation: null },
  {
    name: 'an allocation of 0.0.0.0, of a node without an address',
    cause: 'query_address_missing',
    allocation: { ip: '0.0.0.0', port: 25_565 },
    nodeAddress: '0.0.0.0',
  },
  {
    name: 'an allocation of ::, of a node without an address',
    cause: 'query_address_missing',
    allocation: { ip: '::', port: 25_565 },
    nodeAddress: '',
  },
  {
    name: "an allocation of 0.0.0.0, of a node whose address is a cloud's metadata service",
    cause: 'query_address_not_allowed',
    allocation: { ip: '0.0.0.0', port: 25_565 },
    nodeAddress: '100.100.100.200',
  },
  {
    name: "an alias that can't be resolved",
    cause: 'query_dns',
    allocation: { alias: 'nobody.invalid', port: 25_565 },
  },
  {
    name: "an alias that is a cloud's metadata service",
    cause: 'query_address_not_allowed',
    allocation: { alias: '100.100.100.200', port: 80 },
  },
];
