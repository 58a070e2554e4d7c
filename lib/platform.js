/**
 * The name of this machine's platform package, as napi-rs names them: `linux-x64-gnu`, `darwin-arm64`, …
 * @returns {string}
 */
function platformName() {
  const { platform, arch } = process;
  if (platform === 'linux') return `linux-${arch}-${isMusl() ? 'musl' : 'gnu'}`;
  if (platform === 'win32') return `win32-${arch}-msvc`;
  return `${platform}-${arch}`;
}

/** Whether this Node.js runs on musl: a report of one on glibc names its version. */
function isMusl() {
  /** @type {NodeJS.ProcessReport & { excludeNetwork?: boolean }} */
  const processReport = process.report;
  // The names of open sockets are looked up for a report otherwise, which can take seconds.
  const { excludeNetwork } = processReport;
  processReport.excludeNetwork = true;
  try {
    const report = /** @type {{ header: { glibcVersionRuntime?: string } }} */ (processReport.getReport());
    return report.header.glibcVersionRuntime === undefined;
  } finally {
    processReport.excludeNetwork = excludeNetwork;
  }
}

module.exports = { platformName };
