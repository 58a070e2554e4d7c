// A text that is still UTF-8. A long one costs a sink less as bytes than as a string, which would be made of them and made
// into them again; where it is not ASCII, several times less.

export class EncodedText {
  /** @param {Buffer} bytes well-formed */
  constructor(bytes) {
    this.bytes = bytes;
  }

  /** For messages and for sinks that hold no bytes as text. */
  toString() {
    return this.bytes.toString();
  }

  toJSON() {
    return this.toString();
  }
}
