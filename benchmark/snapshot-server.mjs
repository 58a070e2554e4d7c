// The replay server of the snapshot benchmark, in a process of its own. Its parent tells it what to serve, and ends it.
import { ReplayServer } from '../replicator/__test__/support/servers/replay-server.mjs';
import { countOf, snapshotScenarios } from './snapshot-scenarios.mjs';

process.once('message', async ({ id, share }) => {
  const scenario = snapshotScenarios.find((one) => one.id === id);
  const documents = scenario.make(countOf(scenario, share));
  const script =
    scenario.kind === 'documents' ? { collections: { 'shop.customers': documents } } : { events: documents };
  process.send({
    uri: await new ReplayServer(script).start(),
    documents: documents.length,
    bytes: documents.reduce((sum, document) => sum + document.length, 0),
  });
});
process.once('disconnect', () => process.exit());
