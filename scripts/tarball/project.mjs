// An empty folder that packages are installed into, as a user's project.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What npm sets for its children, so that these are run as from a shell. */
const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));

/** Longer than any command takes, in milliseconds. */
const timeout = 180_000;

export class Project {
  #folder;

  /** @param {string} folder where none is yet */
  constructor(folder) {
    this.#folder = folder;
    mkdirSync(folder);
    writeFileSync(join(folder, 'package.json'), '{ "name": "consumer", "private": true }\n');
  }

  path(...names) {
    return join(this.#folder, ...names);
  }

  /** Copies the files of a folder beside `package.json`. */
  add(folder) {
    cpSync(folder, this.#folder, { recursive: true });
  }

  /** Installs tarballs and packages, and fails where the result is not what they ask for. */
  install(...specifiers) {
    this.run('npm', 'install', '--no-audit', '--no-fund', '--prefer-offline', ...specifiers);
    this.run('npm', 'ls', '--all');
  }

  /** @returns {string} the standard output */
  run(command, ...args) {
    return execFileSync(command, args, {
      cwd: this.#folder,
      env: environment,
      encoding: 'utf8',
      timeout,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  }

  /** Runs what must fail. @returns {string} the standard error */
  runFailing(command, ...args) {
    const { status, stderr, error } = spawnSync(command, args, {
      cwd: this.#folder,
      env: environment,
      encoding: 'utf8',
      timeout,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    if (error !== undefined) throw error;
    if (status === 0) throw new Error(`${command} ${args.join(' ')} did not fail`);
    return stderr;
  }
}
