import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['**/__test__/**/*.test.mjs'],
    setupFiles: ['__test__/support/seed-properties.mjs'],
    globalSetup: ['__test__/support/global-setup.mjs'],
    // A child process a file: a crash of the addon shows as the crash of one file.
    pool: 'forks',
    testTimeout: 60_000,
    // A server's first start, of a JVM that is not in the disk's cache yet, takes ten seconds and more.
    hookTimeout: 60_000,
  },
});
