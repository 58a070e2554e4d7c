// A PostgreSQL server for tests and benchmarks: a cluster of its own in a temporary folder, reached by a socket there.
//
// Run by itself, it only sees to it that the server's programs are there:  node scripts/postgres.mjs
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';

/** Where Debian keeps the versions that are installed. */
const VERSIONS = '/usr/lib/postgresql';
const PORT = 5432;
const START_TIMEOUT_MS = 30_000;
/** PostgreSQL will not run as root; the first of these users that there is will do. */
const USERS = ['postgres', 'nobody'];

const isRoot = process.getuid?.() === 0;

/**
 * The folder of the server's programs; as root on Debian they are installed where they are missing.
 * @throws where they are not to be had
 */
export function ensurePostgres() {
  const found = findPrograms();
  if (found !== null) return found;
  if (!isRoot) throw new Error('PostgreSQL is not installed, and only root can install it');
  try {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    const apt = (...args) => execFileSync('apt-get', ['-o', 'DPkg::Lock::Timeout=300', ...args], { env });
    apt('update', '-q');
    apt('install', '-y', '-q', 'postgresql');
  } catch (error) {
    throw new Error(`PostgreSQL cannot be installed: ${error.message.split('\n')[0]}`, { cause: error });
  }
  const installed = findPrograms();
  if (installed === null) throw new Error('PostgreSQL was installed, but its programs are not found');
  return installed;
}

function findPrograms() {
  if (!existsSync(VERSIONS)) return null;
  const folders = readdirSync(VERSIONS)
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(VERSIONS, version, 'bin'));
  return folders.find((folder) => existsSync(join(folder, 'initdb'))) ?? null;
}

export class PostgresServer {
  #programs;
  #folder;
  #settings;
  #process = null;
  #databases = 0;

  constructor(programs, folder, settings) {
    this.#programs = programs;
    this.#folder = folder;
    this.#settings = settings;
  }

  /**
   * Makes a cluster and starts it. It is gone when the process that called ends.
   * @param {Record<string, string>} settings of postgresql.conf
   */
  static async create(settings = {}) {
    const programs = ensurePostgres();
    const folder = mkdtempSync(join(tmpdir(), 'bsonrow-postgres-'));
    mkdirSync(join(folder, 'data'));
    if (isRoot) execFileSync('chown', ['-R', serverUser(), folder]);
    const server = new PostgresServer(programs, folder, settings);
    process.once('exit', () => server.#remove());
    server.#run('initdb', ['-D', join(folder, 'data'), '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '-N']);
    await server.start();
    return server;
  }

  /** The address of a database, by default the one that every cluster has. */
  address(database = 'postgres') {
    return `postgres://postgres@/${database}?host=${encodeURIComponent(this.#folder)}&port=${PORT}`;
  }

  /** @returns {Promise<string>} the address of a new database */
  async newDatabase() {
    this.#databases += 1;
    const name = `test_${this.#databases}`;
    await this.query(this.address(), `CREATE DATABASE ${name}`);
    return this.address(name);
  }

  /** Runs one statement; rows as arrays. */
  async query(address, sql, values) {
    const client = new pg.Client({ connectionString: address });
    await client.connect();
    try {
      const { rows } = await client.query({ text: sql, values, rowMode: 'array' });
      return rows;
    } finally {
      await client.end();
    }
  }

  async start() {
    const settings = { listen_addresses: '', unix_socket_directories: this.#folder, ...this.#settings };
    const args = ['-D', join(this.#folder, 'data'), '-p', String(PORT)];
    for (const [name, value] of Object.entries(settings)) args.push('-c', `${name}=${value}`);
    let output = '';
    const child = spawn(...this.#command('postgres', args), { stdio: ['ignore', 'ignore', 'pipe'] });
    child.stderr.on('data', (text) => {
      output = (output + text).slice(-2000);
    });
    this.#process = child;
    const end = performance.now() + START_TIMEOUT_MS;
    while (!(await this.#isReady())) {
      if (child.exitCode !== null || performance.now() > end)
        throw new Error(`PostgreSQL does not start: ${output}`);
      await sleep(50);
    }
  }

  /** @param {'fast' | 'immediate'} mode `immediate`: as in a crash */
  async stop(mode = 'fast') {
    const child = this.#process;
    if (child === null) return;
    this.#process = null;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(mode === 'fast' ? 'SIGINT' : 'SIGQUIT');
    await ended;
  }

  /** Stops the server and removes its cluster. */
  async remove() {
    await this.stop('immediate');
    this.#remove();
  }

  #remove() {
    this.#process?.kill('SIGQUIT');
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  async #isReady() {
    return this.query(this.address(), 'SELECT 1').then(
      () => true,
      () => false,
    );
  }

  #run(program, args) {
    const [file, all] = this.#command(program, args);
    execFileSync(file, all, { stdio: ['ignore', 'ignore', 'pipe'] });
  }

  #command(program, args) {
    const file = join(this.#programs, program);
    if (!isRoot) return [file, args];
    // setpriv becomes the program, so that a signal to the child reaches the server.
    const user = serverUser();
    return ['setpriv', [`--reuid=${user}`, `--regid=${groupOf(user)}`, '--clear-groups', file, ...args]];
  }
}

function serverUser() {
  return USERS.find((user) => groupOf(user) !== null);
}

function groupOf(user) {
  try {
    return execFileSync('id', ['-g', user], { stdio: ['ignore', 'pipe', 'ignore'] })
      .toString()
      .trim();
  } catch {
    return null;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    console.log(`PostgreSQL: ${ensurePostgres()}`);
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
