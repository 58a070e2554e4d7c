//! Sets the link arguments of a Node.js addon.

fn main() {
    // The link arguments of an addon; the pure core needs none of them.
    if std::env::var_os("CARGO_FEATURE_NODE").is_some() {
        napi_build::setup();
    }
}
