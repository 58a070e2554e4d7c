// What an error of the driver or the converter means for the reading of a cursor.

const CODE = {
  cursorNotFound: 43,
  maxTimeExpired: 50,
  queryPlanKilled: 175,
  cursorKilled: 237,
  documentTooLarge: 10334,
};

/** The history the stream was to go on from is gone, or cannot be read. */
const HISTORY_LOST = new Set([
  136, // CappedPositionLost
  260, // InvalidResumeToken
  280, // ChangeStreamFatalError
  286, // ChangeStreamHistoryLost
]);

/**
 * Codes after which a change stream is resumed on servers that send no labels, from the specification of change
 * streams (mongodb/specifications, "Resumable Error").
 */
const RESUMABLE_CODES = new Set([
  6, // HostUnreachable
  7, // HostNotFound
  63, // StaleShardVersion
  89, // NetworkTimeout
  91, // ShutdownInProgress
  133, // FailedToSatisfyReadPreference
  150, // StaleEpoch
  189, // PrimarySteppedDown
  234, // RetryChangeStream
  262, // ExceededTimeLimit
  9001, // SocketException
  10107, // NotWritablePrimary
  11600, // InterruptedAtShutdown
  11602, // InterruptedDueToReplStateChange
  13388, // StaleConfig
  13435, // NotPrimaryNoSecondaryOk
  13436, // NotPrimaryOrSecondary
]);

const RESUMABLE_LABELS = ['ResumableChangeStreamError', 'RetryableReadError', 'RetryableWriteError'];

const NETWORK_ERRORS = new Set([
  'MongoNetworkError',
  'MongoServerSelectionError',
  'MongoPoolClearedError',
  'PoolClearedError',
  'PoolClearedOnNetworkError',
  'MongoPoolClosedError',
  'MongoTopologyClosedError',
  'WaitQueueTimeoutError',
  'MongoWaitQueueTimeoutError',
]);

/** What js-bson and the driver throw for bytes that are no message, or no BSON. */
const PARSE_ERRORS = new Set([
  'BSONError',
  'BSONOffsetError',
  'BSONVersionError',
  'MongoParseError',
  'MongoDecompressionError',
  'MongoUnexpectedServerResponseError',
  // js-bson reads behind the end of a message that is cut short.
  'RangeError',
]);

/**
 * @typedef {'malformed' | 'timeout' | 'tooLarge' | 'lost' | 'interrupted' | 'history' | 'other'} Meaning
 *   `malformed`: the reply is not what it should be; `timeout` and `tooLarge`: ask for less at a time; `lost`: the
 *   connection; `interrupted`: the cursor, which can be opened again; `history`: it never can; `other`: a refusal
 */

/** @returns {Meaning} */
export function meaningOf(error) {
  const { name, code } = error;
  if (typeof code === 'string' && code.startsWith('BSONROW_')) return 'malformed';
  if (PARSE_ERRORS.has(name)) return 'malformed';
  if (name === 'MongoNetworkTimeoutError' || code === CODE.maxTimeExpired) return 'timeout';
  if (code === CODE.documentTooLarge) return 'tooLarge';
  // A server that this driver does not work with is found, but not taken.
  if (error.cause?.name === 'MongoCompatibilityError') return 'other';
  // A name that cannot be resolved, or a socket's own error, comes as Node.js has it.
  if (NETWORK_ERRORS.has(name) || error.syscall !== undefined) return 'lost';
  if (HISTORY_LOST.has(code) || hasLabel(error, 'NonResumableChangeStreamError')) return 'history';
  if ([CODE.cursorNotFound, CODE.queryPlanKilled, CODE.cursorKilled].includes(code)) return 'interrupted';
  if (RESUMABLE_LABELS.some((label) => hasLabel(error, label)) || RESUMABLE_CODES.has(code))
    return 'interrupted';
  return 'other';
}

function hasLabel(error, label) {
  return typeof error.hasErrorLabel === 'function' && error.hasErrorLabel(label);
}
