//! Who may ask: the page that this server handed out, and nobody else.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

/// What every answer says: run nothing but the page's own script, speak to nobody but this server, tell nobody the
/// address, keep nothing.
pub(crate) const HEADERS: [(HeaderName, HeaderValue); 6] = [
    (
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; \
             base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        ),
    ),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
    (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
];

/// Whom a server answers.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    secret: String,
    port: u16,
}

impl Guard {
    pub(crate) fn new(secret: String, port: u16) -> Self {
        Self { secret, port }
    }

    /// Whether this is the secret of the address. Takes as long for any other of the same length.
    pub(crate) fn knows(&self, secret: &str) -> bool {
        let (given, own) = (secret.as_bytes(), self.secret.as_bytes());
        given.len() == own.len() && given.iter().zip(own).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
    }

    /// Whether a request names this host, and comes from its own page or from no page at all. A name that somebody else
    /// has made to lead to this machine is not its name.
    pub(crate) fn admits(&self, headers: &HeaderMap) -> bool {
        let text = |name| headers.get(name).map(|value: &HeaderValue| value.to_str().unwrap_or("?"));
        let is_own = |host: &str| ["127.0.0.1", "localhost"].iter().any(|own| host == format!("{own}:{}", self.port));
        let origin_is_own = |origin: &str| origin.strip_prefix("http://").is_some_and(is_own);
        text(header::HOST).is_some_and(is_own) && text(header::ORIGIN).is_none_or(origin_is_own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admits(host: Option<&'static str>, origin: Option<&'static str>) -> bool {
        let mut headers = HeaderMap::new();
        for (name, value) in [(header::HOST, host), (header::ORIGIN, origin)] {
            if let Some(value) = value {
                headers.insert(name, HeaderValue::from_static(value));
            }
        }
        Guard::new("secret".into(), 80).admits(&headers)
    }

    #[test]
    fn only_the_own_page_or_no_page_at_all_may_ask() {
        assert!(admits(Some("127.0.0.1:80"), None) && admits(Some("localhost:80"), Some("http://127.0.0.1:80")));
        assert!(!admits(None, None), "who names no host is no browser");
        assert!(!admits(Some("evil.example:80"), None), "a name that leads here is not our name");
        for origin in [
            "http://evil.example",
            "null",
            "https://127.0.0.1:80",
            "http://127.0.0.1:81",
            "http://127.0.0.1:80.evil.example",
        ] {
            assert!(!admits(Some("127.0.0.1:80"), Some(origin)), "{origin}");
        }
    }

    #[test]
    fn only_the_whole_secret_will_do() {
        let guard = Guard::new("secret".into(), 80);
        assert!(guard.knows("secret"));
        assert!(["", "secre", "secrets", "Secret"].iter().all(|other| !guard.knows(other)));
    }
}
