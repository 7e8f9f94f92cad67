//! A page that shows one picture from elsewhere, for a frame: the site itself loads nothing from
//! another origin, and a person who clicks on a picture lets this frame do so, for this picture.

use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};

use crate::access::Allowed;

use super::error::ApiError;

pub(super) const PATH: &str = "/remote-image";

/// Characters of an address.
const ADDRESS_MAX: usize = 4096;

/// The style of the page, and what the policy knows it by.
const STYLE: &str = "html,body{margin:0;height:100%}img{width:100%;height:100%;object-fit:contain}";
const STYLE_HASH: &str = "sha256-SbTQdOADXCop/PWdZbsJ3FlEp3UFQuSaIW0wOwhiFbA=";

pub(super) fn page(query: &str, allowed: &Allowed) -> Response {
    let Some((address, origin)) = address(query) else {
        return ApiError::new(
            StatusCode::BAD_REQUEST,
            "bad_request",
            "`src` is the http or https address of a picture.",
        )
        .into_response();
    };
    let policy = format!(
        "default-src 'none'; img-src {origin}; style-src '{STYLE_HASH}'; sandbox; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'self'{}",
        framers(allowed)
    );
    let Ok(policy) = HeaderValue::from_str(&policy) else {
        return ApiError::not_found().into_response();
    };
    let address = escaped(&address);
    let page = format!(
        "<!doctype html><meta charset=utf-8><title>Picture</title><style>{STYLE}</style>\
         <img src=\"{address}\" alt=\"\" referrerpolicy=\"no-referrer\">"
    );
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (header::CONTENT_SECURITY_POLICY, policy),
    ];
    (headers, page).into_response()
}

/// Pages that hold a chat may hold its pictures.
fn framers(allowed: &Allowed) -> String {
    let plain = |origin: &&str| !origin.contains([' ', ';', ',', '\'']) && origin.is_ascii();
    allowed.origins().filter(plain).flat_map(|origin| [" ", origin]).collect()
}

/// The address of the picture, and the origin it is at.
fn address(query: &str) -> Option<(String, String)> {
    let src = query.split('&').find_map(|pair| pair.strip_prefix("src="))?;
    let address = decoded(src)?;
    if ADDRESS_MAX < address.len() {
        return None;
    }
    let uri: Uri = address.parse().ok()?;
    let scheme = uri.scheme_str().filter(|scheme| matches!(*scheme, "http" | "https"))?;
    let authority = uri.authority()?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte);
    let host = authority.as_str();
    host.bytes().all(plain).then(|| (address.clone(), format!("{scheme}://{host}")))
}

/// Percent-decoded, where that gives text without control characters.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            b'+' => b' ',
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok().filter(|text| !text.chars().any(char::is_control))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_web_are_pictures() {
        let (address, origin) =
            address("src=https%3A%2F%2Fa.example%2Fb.png%3Fx%3D%22%3E").unwrap_or_default();
        assert_eq!(origin, "");
        assert_eq!(address, "", "quotes are no part of an address");
        let found = super::address("x=1&src=https%3A%2F%2Fa.example%3A8%2Fb.png%3Fx%3D1");
        assert_eq!(
            found,
            Some(("https://a.example:8/b.png?x=1".into(), "https://a.example:8".into()))
        );
        for src in [
            "javascript:alert(1)",
            "data:image/png,x",
            "//a.example/x",
            "/v1/sessions",
            "https://a.example;script-src%20*/x",
            "https://a.example%0d%0a/x",
            "https://me:pw@a.example/x",
            "",
        ] {
            assert_eq!(super::address(&format!("src={src}")), None, "{src}");
        }
    }

    #[test]
    fn the_policy_knows_the_style_by_its_hash() {
        use base64::Engine;
        use sha2::Digest;
        let digest = sha2::Sha256::digest(STYLE.as_bytes());
        let hash = base64::engine::general_purpose::STANDARD.encode(digest);
        assert_eq!(STYLE_HASH, format!("sha256-{hash}"));
    }
}
