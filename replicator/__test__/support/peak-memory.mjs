// The most memory that this process has held, in MiB.
import { readFileSync } from 'node:fs';

/** On Linux, `maxRSS` begins with what the parent held when it forked; `VmHWM` is of the program itself. */
export function peakMemory() {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS / 1024;
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) / 1024;
}
