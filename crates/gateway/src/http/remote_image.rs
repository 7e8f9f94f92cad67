//! A page with one remote image, for an iframe. The site itself loads nothing from other origins; a
//! click on an image lets this frame load that one.

use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};

use crate::access::OriginPolicy;

use super::error::ApiError;

pub(super) const PATH: &str = "/remote-image";

/// Characters of an image URL.
const URL_CHARS_MAX: usize = 4096;

/// Style of the page, and its hash in the policy.
const STYLE: &str = "html,body{margin:0;height:100%}img{width:100%;height:100%;object-fit:contain}";
const STYLE_HASH: &str = "sha256-SbTQdOADXCop/PWdZbsJ3FlEp3UFQuSaIW0wOwhiFbA=";

pub(super) fn remote_image_page(query: &str, allowed: &OriginPolicy) -> Response {
    let Some((address, origin)) = parse_image_url(query) else {
        return ApiError::new(
            StatusCode::BAD_REQUEST,
            "bad_request",
            "`src` must be the http or https URL of an image.",
        )
        .into_response();
    };
    let policy = format!(
        "default-src 'none'; img-src {origin}; style-src '{STYLE_HASH}'; sandbox; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'self'{}",
        allowed_frame_ancestors(allowed)
    );
    let Ok(policy) = HeaderValue::from_str(&policy) else {
        return ApiError::not_found().into_response();
    };
    let address = escape_html(&address);
    let page = format!(
        "<!doctype html><meta charset=utf-8><title>Image</title><style>{STYLE}</style>\
         <img src=\"{address}\" alt=\"\" referrerpolicy=\"no-referrer\">"
    );
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (header::CONTENT_SECURITY_POLICY, policy),
    ];
    (headers, page).into_response()
}

/// Pages that may embed a chat may embed its images.
fn allowed_frame_ancestors(allowed: &OriginPolicy) -> String {
    let is_safe_origin =
        |origin: &&str| !origin.contains([' ', ';', ',', '\'']) && origin.is_ascii();
    allowed.origins().filter(is_safe_origin).flat_map(|origin| [" ", origin]).collect()
}

/// The image's URL and its origin.
fn parse_image_url(query: &str) -> Option<(String, String)> {
    let src = query.split('&').find_map(|pair| pair.strip_prefix("src="))?;
    let address = percent_decode(src)?;
    if URL_CHARS_MAX < address.len() {
        return None;
    }
    let uri: Uri = address.parse().ok()?;
    let scheme = uri.scheme_str().filter(|scheme| matches!(*scheme, "http" | "https"))?;
    let authority = uri.authority()?;
    let is_safe_byte = |byte: u8| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte);
    let host = authority.as_str();
    host.bytes().all(is_safe_byte).then(|| (address.clone(), format!("{scheme}://{host}")))
}

/// Percent-decodes. `None` if the result is not text, or has control characters.
fn percent_decode(text: &str) -> Option<String> {
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

fn escape_html(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_web_are_pictures() {
        let (address, origin) =
            parse_image_url("src=https%3A%2F%2Fa.example%2Fb.png%3Fx%3D%22%3E").unwrap_or_default();
        assert_eq!(origin, "");
        assert_eq!(address, "", "quotes are not allowed in an address");
        let found = parse_image_url("x=1&src=https%3A%2F%2Fa.example%3A8%2Fb.png%3Fx%3D1");
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
            assert_eq!(parse_image_url(&format!("src={src}")), None, "{src}");
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
