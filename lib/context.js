/** @typedef {import('../index.js').CompatibilityContext} CompatibilityContext */
/** @typedef {import('../index.js').DateRenderMode} Mode */

/** @type {typeof import('../index.js').DateRenderMode} */
const DateRenderMode = Object.freeze({ LEGACY_MILLISECONDS: 0, ISO_MILLISECONDS: 1, ISO_SECONDS: 2 });

const ISO_OPTION = 'timestamps_iso8601';
/** The edition from which the option is on by itself. */
const ISO_EDITION = 2;

/**
 * @param {CompatibilityContext | Mode} context
 * @returns {Mode}
 */
function getDateRenderMode(context) {
  if (context === 0 || context === 1 || context === 2) return context;
  const isContext =
    typeof context === 'object' &&
    context !== null &&
    Number.isFinite(context.edition) &&
    (context.overrides ?? new Map()) instanceof Map;
  if (!isContext) {
    throw invalid(
      'context must be a DateRenderMode (0, 1 or 2) or a compatibility context: { edition: number, overrides: Map }',
    );
  }
  if (!isIso(context)) return DateRenderMode.LEGACY_MILLISECONDS;
  return context.maxTimeValuePrecision?.subSecondDigits === 0
    ? DateRenderMode.ISO_SECONDS
    : DateRenderMode.ISO_MILLISECONDS;
}

/** @param {CompatibilityContext} context */
function isIso({ edition, overrides }) {
  // Found by name: the option objects are the service's own.
  for (const [option, isOn] of overrides ?? []) if (option.name === ISO_OPTION) return isOn;
  return edition >= ISO_EDITION;
}

/** @param {string} sentence */
function invalid(sentence) {
  return Object.assign(new TypeError(sentence), { code: 'BSONROW_INVALID_ARGUMENT' });
}

module.exports = { DateRenderMode, getDateRenderMode, invalid };
