//! What a source is.

/// What a source is, and so what is made of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A document, whose elements are columns: its row and identity.
    Document,
    /// A change event, whose documents' elements are columns: its rows and identity.
    Change,
}
