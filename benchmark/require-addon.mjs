// Whether the addon is there to be measured.

/** @throws {Error} that says how it is made */
export async function requireAddon() {
  try {
    await import('../index.js');
  } catch (cause) {
    throw new Error(`the addon cannot be loaded, npm run build makes it: ${cause.message}`, { cause });
  }
}
