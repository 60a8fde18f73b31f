import { describe, expect, it } from 'vitest';
import { nodeUuid } from '../../../src/simulator/calagopus-documents.ts';
import { NodeResources } from '../../../src/simulator/node-resources.ts';
import type { SimulatedAnswer } from '../../../src/simulator/simulated-responses.ts';
import { SimulatedPanel } from '../../support/simulated-api.ts';

/** A panel, and the resources of its servers. */
function stage() {
  const panel = new SimulatedPanel({ panel: 'calagopus' });
  const resources = new NodeResources(panel);
  const node = nodeUuid(panel.survival);
  return { panel, resources, node, survival: panel.survival };
}

const read = ({ status, body }: SimulatedAnswer) => [status, JSON.parse(body)] as const;
const unreachable = [500, { errors: ['internal server error'] }];

it('a list has the servers of the node that the account has access to', () => {
  const { panel, resources, node, survival } = stage();
  panel.fleet.add({ name: 'foreign', owned: false });
  panel.fleet.add({ name: 'elsewhere', node: 'node-9' });
  const [status, body] = read(resources.ofNode(node)) as [number, { resources: object }];
  expect([status, Object.keys(body.resources)]).toEqual([200, [survival.uuid]]);
});

describe('a reading', () => {
  it('is cached for 15 s, for the list and for each server', async () => {
    const { panel, resources, node, survival } = stage();
    const state = () => read(resources.of(survival));
    expect(state()).toMatchObject([200, { resources: { state: 'running' } }]);
    panel.fleet.apply(survival, 'kill');
    await panel.clock.advance(14_999);
    expect(state()).toMatchObject([200, { resources: { state: 'running' } }]);
    expect(read(resources.ofNode(node))).toMatchObject([
      200,
      { resources: { [survival.uuid]: { state: 'running' } } },
    ]);
    await panel.clock.advance(1);
    expect(state()).toMatchObject([200, { resources: { state: 'offline' } }]);
  });

  it('lacks a server that was added after it', () => {
    const { panel, resources, node } = stage();
    resources.ofNode(node);
    const late = panel.fleet.add({ name: 'late' });
    expect(read(resources.of(late))).toEqual([404, { errors: ['no resource usage data found for server'] }]);
  });

  it('is an error while the node is down, unless one is cached', async () => {
    const { panel, resources, node, survival } = stage();
    resources.ofNode(node);
    survival.nodeDown = true;
    expect(resources.of(survival).status).toBe(200);
    await panel.clock.advance(15_000);
    expect([read(resources.of(survival)), read(resources.ofNode(node))]).toEqual([unreachable, unreachable]);
  });
});
