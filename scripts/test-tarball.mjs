// Tests what ships: packs the packages, installs the tarballs into empty projects, and uses them from there.
import assert from 'node:assert';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pack, packWithoutAddons } from './tarball/pack.mjs';
import { Project } from './tarball/project.mjs';

const { platformName } = createRequire(import.meta.url)('../lib/platform.js');
const root = fileURLToPath(new URL('..', import.meta.url));
const consumer = fileURLToPath(new URL('tarball/consumer', import.meta.url));
const typescript = join(root, 'node_modules', '.bin', 'tsc');
const platform = platformName();
const readVersion = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version;

const temporary = mkdtempSync(join(tmpdir(), 'bsonrow-tarball-'));
process.once('exit', () => rmSync(temporary, { recursive: true, force: true }));

/** Says what is tested, and then how it went: an assertion that fails ends the process. */
function test(name, body) {
  process.stdout.write(`${name} … `);
  const project = new Project(join(temporary, name.replaceAll(/\W+/g, '-')));
  body(project);
  console.log('ok');
}

function checkUse(project) {
  project.run('node', 'required.cjs');
  project.run('node', 'imported.mjs');
}

const whole = pack(root, temporary);
const addon = pack(join(root, 'npm', platform), temporary);
const bare = packWithoutAddons(whole, temporary);
const replicator = pack(join(root, 'replicator'), temporary);

test('contents of the tarballs', () => {
  const folders = ['docs', 'lib'].flatMap((folder) =>
    readdirSync(join(root, folder)).map((file) => `${folder}/${file}`),
  );
  const platformFiles = ['README.md', 'bsonrow.node', 'package.json'];
  const others = ['CHANGELOG.md', 'LICENSE', 'README.md', 'index.d.ts', 'index.js', 'package.json'];
  const expected = [...others, ...folders, ...platformFiles.map((file) => `npm/${platform}/${file}`)];
  assert.deepStrictEqual(whole.contents, expected.sort());
  assert.deepStrictEqual(addon.contents, platformFiles);
});

test('packages of one version', () => {
  assert.strictEqual(readVersion(join(root, 'npm', platform)), readVersion(root));
});

for (const major of [6, 7]) {
  test(`one package, bson ${major}`, (project) => {
    project.add(consumer);
    project.install(whole.file, `bson@${major}`);
    checkUse(project);
  });
}

test('types', (project) => {
  project.add(consumer);
  project.install(whole.file, 'bson@6', '@types/node@20');
  project.run(typescript, '--project', '.');
});

test('platform package on its own', (project) => {
  project.add(consumer);
  project.install(bare.file, addon.file, 'bson@6');
  checkUse(project);
});

test('no platform package', (project) => {
  project.install(bare.file, 'bson@6');
  const message = project.runFailing('node', '--eval', 'require("bsonrow")');
  assert.match(
    message,
    new RegExp(`bsonrow has no addon for ${platform}: install the package bsonrow-${platform} `),
  );
});

test('replicator', (project) => {
  project.install(whole.file, replicator.file);
  const command = project.path('node_modules', '.bin', 'bsonrow-replicate');
  assert.match(project.run(command, '--help'), /^Usage: bsonrow-replicate /);
  const sample = project.path('node_modules', 'bsonrow-replicator', 'samples', 'shop.events.bson.gz');
  const summary = project.run(command, sample, '--into', 'shop.sqlite', '--show', '1');
  assert.match(summary, /^shop\.orders\n_id +number /m);
});
