// The command in a process of its own, which tells its parent at the end how much memory it took:
// node memory-command.mjs <arguments of the command>
import { main } from '../../lib/cli.mjs';
import { peakMemory } from './peak-memory.mjs';

const code = await main(process.argv.slice(2));
process.send({ code, peakMiB: peakMemory() });
process.disconnect();
