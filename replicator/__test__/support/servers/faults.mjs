// What a replay server can do instead of a good reply.

/** An error of the server's. */
export const serverError = (code, codeName, { labels = [], message = codeName } = {}) => ({
  document: { ok: 0, errmsg: message, code, codeName, ...(labels.length > 0 ? { errorLabels: labels } : {}) },
});

/** The connection ends before the reply, or after some bytes of it. */
export const cutConnection = (afterBytes = 0) => ({ cutAfter: afterBytes });

/** The bytes of the good reply's document, changed. */
export const changedReply = (change) => ({ change });

/** No reply at all. */
export const silence = () => ({ isSilent: true });

/** Something happens before the good reply. */
export const meanwhile = (happen) => ({ happen });
