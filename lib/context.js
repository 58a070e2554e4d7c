const { isMap } = require('node:util/types');

/** @typedef {import('../index.js').CompatibilityContext} CompatibilityContext */
/** @typedef {import('../index.js').DateRenderMode} Mode */

/** @type {typeof import('../index.js').DateRenderMode} */
const DateRenderMode = Object.freeze({ LEGACY_MILLISECONDS: 0, ISO_MILLISECONDS: 1, ISO_SECONDS: 2 });

const ISO_OPTION = 'timestamps_iso8601';
/** The edition from which the option is on by itself. */
const ISO_EDITION = 2;

/**
 * @param {unknown} value
 * @returns {value is Mode}
 */
const isMode = (value) => value === 0 || value === 1 || value === 2;

/**
 * @param {CompatibilityContext | Mode} context
 * @returns {Mode}
 */
function getDateRenderMode(context) {
  if (isMode(context)) return context;
  const isContext =
    typeof context === 'object' &&
    context !== null &&
    Number.isFinite(context.edition) &&
    (context.overrides == null || isMap(context.overrides));
  if (!isContext) {
    throw invalid(
      'context must be a DateRenderMode (0, 1 or 2) or a compatibility context: { edition: number, overrides: Map }',
    );
  }
  const digits = subSecondDigitsOf(context);
  if (!isIso(context)) return DateRenderMode.LEGACY_MILLISECONDS;
  return digits === 0 ? DateRenderMode.ISO_SECONDS : DateRenderMode.ISO_MILLISECONDS;
}

/** @param {CompatibilityContext} context */
function isIso({ edition, overrides }) {
  // Found by name: the option objects are the service's own.
  for (const [option, isOn] of overrides ?? []) {
    if (typeof option === 'string')
      throw invalid('context.overrides: options are objects with a name, not names');
    if (option?.name !== ISO_OPTION) continue;
    if (typeof isOn !== 'boolean') throw invalid(`context.overrides: ${ISO_OPTION} must be true or false`);
    return isOn;
  }
  return edition >= ISO_EDITION;
}

/** @param {CompatibilityContext} context */
function subSecondDigitsOf({ maxTimeValuePrecision: precision = null }) {
  if (precision === null) return undefined;
  const { subSecondDigits } = precision;
  // A mistaken one would be whole seconds that show a fraction.
  if (typeof subSecondDigits === 'number') return subSecondDigits;
  throw invalid('context.maxTimeValuePrecision must be null or { subSecondDigits: number }');
}

/** @param {string} sentence */
function invalid(sentence) {
  return Object.assign(new TypeError(sentence), { code: 'BSONROW_INVALID_ARGUMENT' });
}

module.exports = { DateRenderMode, getDateRenderMode, invalid, isMode };
