/**
 * Whether `require` threw because a module is not installed.
 * @param {unknown} error
 */
function isMissing(error) {
  return error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND';
}

module.exports = { isMissing };
