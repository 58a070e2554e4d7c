// The in-memory server mongo-java-server: fetched from Maven Central once, started on a free loopback port.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('java/', import.meta.url));
const POM = join(FOLDER, 'pom.xml');

const runs = (program) => spawnSync(program, ['-version'], { stdio: 'ignore' }).status === 0;

/** Why there is no such server here; `undefined` where there is one. */
export const javaServerMissing = ['java', 'mvn']
  .filter((program) => !runs(program))
  .map((program) => `${program} is not installed`)
  .concat(existsSync(POM) ? [] : ['its pom.xml is not here'])[0];

/** @returns {Promise<{ uri: string, stop: () => Promise<void> }>} */
export async function startJavaServer() {
  const child = spawn('java', ['-cp', join(fetchLibraries(), '*'), join(FOLDER, 'Server.java')], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const first = await Promise.race([
    new Promise((resolve) => createInterface(child.stdout).once('line', resolve)),
    ended.then((status) => Promise.reject(new Error(`the server ended with exit status ${status}`))),
  ]);
  return {
    uri: first.trim(),
    async stop() {
      child.stdin.end();
      await ended;
    },
  };
}

/** Files that run side by side may all come here first: whoever is done first wins. */
function fetchLibraries() {
  const [, version] = /<artifactId>mongo-java-server<\/artifactId>\s*<version>([^<]+)</.exec(
    readFileSync(POM, 'utf8'),
  );
  const folder = join(tmpdir(), `bsonrow-mongo-java-server-${version}`);
  if (existsSync(folder)) return folder;
  const fresh = mkdtempSync(`${folder}-`);
  const { status, stdout } = spawnSync(
    'mvn',
    [
      '-q',
      '-B',
      '-f',
      POM,
      'dependency:copy-dependencies',
      `-DoutputDirectory=${fresh}`,
      '-DincludeScope=runtime',
    ],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`mongo-java-server cannot be fetched: ${stdout}`);
  try {
    renameSync(fresh, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
    rmSync(fresh, { recursive: true });
  }
  return folder;
}
