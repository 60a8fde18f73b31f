import { promises as dns } from 'node:dns';
import { expect, it } from 'vitest';
import { findService } from '../../../src/query/service-lookup.ts';
import { Answerer, LOOPBACK, pascal, uint8, uint16BE, uint32BE } from '../../support/game-answers.ts';

const NAME = '_minecraft._tcp.play.example.com';
const SRV = 33;

/** A host name in the form of DNS messages. */
const labels = (host: string) => Buffer.concat([...host.split('.').map((label) => pascal(label)), uint8(0)]);

const service = (priority: number, port: number, host: string) => {
  const data = Buffer.concat([uint16BE(priority), uint16BE(0), uint16BE(port), labels(host)]);
  // A reference to the name in the question.
  return Buffer.concat([
    uint16BE(0xc00c),
    uint16BE(SRV),
    uint16BE(1),
    uint32BE(60),
    uint16BE(data.length),
    data,
  ]);
};

/** A name server with these records for one name. */
const nameServer = (...records: readonly Buffer[]) =>
  Answerer.udp(({ datagram, reply }) => {
    const question = Buffer.concat([labels(NAME), uint16BE(SRV), uint16BE(1)]);
    const isKnown = datagram.subarray(12, 12 + question.length).equals(question) && records.length > 0;
    const counts = [1, isKnown ? records.length : 0, 0, 0].map(uint16BE);
    const head = [datagram.subarray(0, 2), uint16BE(isKnown ? 0x8180 : 0x8183), ...counts];
    reply(Buffer.concat([...head, question, ...(isKnown ? records : [])]));
  });

const find = (port: number) => {
  const resolver = new dns.Resolver({ timeout: 1_000, tries: 1 });
  resolver.setServers([`${LOOPBACK}:${port}`]);
  return findService(NAME, resolver);
};

it('a service is at the target of the record with the lowest priority', async () => {
  await using server = await nameServer(
    service(10, 25_566, 'b.example.com'),
    service(5, 25_570, 'a.example.com'),
  );
  expect(await find(server.port)).toMatchObject({ name: 'a.example.com', port: 25_570 });
});

it('a service without a record is unknown', async () => {
  await using server = await nameServer();
  expect(await find(server.port)).toBeUndefined();
});
