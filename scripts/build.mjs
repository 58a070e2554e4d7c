// Builds the addon for this machine, guided by the profile for its compiler, if there is one.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { buildAddon } from './cargo.mjs';
import { folder, profileName } from './profile/file.mjs';

const { name } = profileName();
const profile = join(folder, name);
if (existsSync(profile)) {
  buildAddon([`-Cprofile-use=${profile}`]);
} else {
  console.log(
    `There is no ${name}: the addon is built without a profile, and slower. npm run profile takes one.`,
  );
  buildAddon([]);
}
