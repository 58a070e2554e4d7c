/** As the replicator reads identities and events: an int64 is a `bigint`. */
const deserializeOptions = { useBigInt64: true };

/** The same for an event's own fields: nested documents are left as Buffers, and what is ill-formed is replaced. */
const deserializeFieldOptions = { useBigInt64: true, raw: true, validation: { utf8: false } };

module.exports = { deserializeFieldOptions, deserializeOptions };
