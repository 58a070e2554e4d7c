// A proxy before PostgreSQL that does harm around a COMMIT, before it reaches the server, or after it did and before the
// answer comes back: it cuts the connection, or holds it open and passes nothing on any more.
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const COMMIT = Buffer.from('COMMIT\0');
/** How long the server has to do what it was told, after the connection was cut. */
const AFTER_COMMIT_MS = 40;

export class CuttingProxy {
  #folder = mkdtempSync(join(tmpdir(), 'bsonrow-proxy-'));
  #target;
  #server;
  #commits = 0;
  /** How many connections were cut. */
  cuts = 0;
  /** How many were silenced. */
  silenced = 0;
  /** Whether nothing is passed on of any connection. */
  isSilent = false;

  /**
   * @param {string} target the socket of the server
   * @param {(commit: number) => 'before' | 'after' | 'silence before' | 'silence after' | null} plan what happens to
   *   each commit, counted from 1
   */
  constructor(target, plan) {
    this.#target = target;
    this.#server = createServer((client) => this.#connect(client, plan));
  }

  /** @returns {Promise<string>} the folder of its socket */
  async listen() {
    await new Promise((resolve) => this.#server.listen(join(this.#folder, '.s.PGSQL.5432'), resolve));
    return this.#folder;
  }

  async close() {
    await new Promise((resolve) => this.#server.close(resolve));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #connect(client, plan) {
    const server = connect(this.#target);
    let isMute = false;
    const cut = () => {
      this.cuts += 1;
      client.destroy();
      server.destroy();
    };
    client.on('data', (bytes) => {
      const isCommit = bytes.includes(COMMIT);
      if (isCommit) this.#commits += 1;
      const action = isCommit ? plan(this.#commits) : null;
      if (action === 'before') {
        cut();
        return;
      }
      if (action?.startsWith('silence')) {
        isMute = true;
        this.silenced += 1;
      }
      if (!this.isSilent && !(isMute && action !== 'silence after')) server.write(bytes);
      if (action === 'after') {
        isMute = true;
        setTimeout(cut, AFTER_COMMIT_MS);
      }
    });
    server.on('data', (bytes) => {
      if (!isMute && !this.isSilent) client.write(bytes);
    });
    for (const [one, other] of [
      [client, server],
      [server, client],
    ]) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  }
}
