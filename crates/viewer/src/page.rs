//! The page, as it was built: viewer/ has its source.

use axum::http::header;
use axum::response::{IntoResponse, Response};
use rust_embed::{EmbeddedFile, RustEmbed};

#[derive(RustEmbed)]
#[folder = "../../viewer/dist"]
struct Page;

/// A file of the page, if it has one of this name.
pub(crate) fn file(name: &str) -> Option<Response> {
    let name = if name.is_empty() { "index.html" } else { name };
    let EmbeddedFile { data, .. } = Page::get(name)?;
    let kind = match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("json") => "application/json",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    };
    Some(([(header::CONTENT_TYPE, kind)], data.into_owned()).into_response())
}
