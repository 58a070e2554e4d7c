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
  const report = /** @type {{ header: { glibcVersionRuntime?: string } }} */ (process.report.getReport());
  return report.header.glibcVersionRuntime === undefined;
}

module.exports = { platformName };
