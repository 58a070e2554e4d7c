// Standard output and standard error, which may be gone before the run is.

/**
 * A reader that has gone, as `head` goes, ends neither the run nor with an error: what is stored counts, not what is
 * said of it. Anything else that comes between, such as a full disk, does not end the run either, but is told.
 * @param {NodeJS.Process} process
 */
export function guardOutputs(process) {
  const { stdout, stderr } = process;
  let isTold = false;
  stdout.on('error', (error) => {
    if (error.code === 'EPIPE' || isTold) return;
    isTold = true;
    process.exitCode ||= 1;
    stderr.write(`bsonrow-replicate: standard output: ${error.message}\n`);
  });
  stderr.on('error', () => {});
}
