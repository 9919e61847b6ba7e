//! Errors as RFC 9457 problem documents with a machine-readable `reason`.

use std::sync::LazyLock;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, Response, StatusCode, header};

use super::reason::Reason;

/// Refusals are the bulk of the answers: their bodies are written once.
static BODIES: LazyLock<Vec<Bytes>> = LazyLock::new(|| {
    Reason::ALL
        .iter()
        .map(|reason| Bytes::from(body(*reason, None)))
        .collect()
});

const PROBLEM: HeaderValue = HeaderValue::from_static("application/problem+json");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// The problem document of a reason.
#[must_use]
pub fn problem(reason: Reason) -> Response<Body> {
    let body = BODIES.get(reason as usize).cloned().unwrap_or_default();
    respond(reason.status(), PROBLEM, Body::from(body))
}

/// The same with what is special about this case.
#[must_use]
pub fn problem_with_detail(reason: Reason, detail: &str) -> Response<Body> {
    respond(
        reason.status(),
        PROBLEM,
        Body::from(body(reason, Some(detail))),
    )
}

/// A problem document with further members.
#[must_use]
pub fn problem_with(reason: Reason, members: &[(&str, &str)]) -> Response<Body> {
    let mut document = document(reason);
    for (name, value) in members {
        document[*name] = (*value).into();
    }
    respond(reason.status(), PROBLEM, Body::from(document.to_string()))
}

/// A JSON answer.
#[must_use]
pub fn json(status: StatusCode, body: String) -> Response<Body> {
    respond(status, JSON, Body::from(body))
}

fn respond(status: StatusCode, content_type: HeaderValue, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, content_type);
    response
}

fn body(reason: Reason, detail: Option<&str>) -> String {
    let mut document = document(reason);
    if let Some(detail) = detail {
        document["detail"] = detail.into();
    }
    document.to_string()
}

fn document(reason: Reason) -> serde_json::Value {
    serde_json::json!({
        "type": "about:blank",
        "title": reason.title(),
        "status": reason.status().as_u16(),
        "reason": reason.word(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_names_its_reason_and_status() {
        let response = problem(Reason::SoldOut);
        assert_eq!(response.status(), StatusCode::CONFLICT);
        assert_eq!(
            response.headers()[header::CONTENT_TYPE],
            "application/problem+json"
        );
        let document: serde_json::Value =
            serde_json::from_str(&body(Reason::SoldOut, Some("x"))).unwrap();
        assert_eq!(
            (&document["reason"], &document["status"]),
            (&"sold_out".into(), &409.into())
        );
        assert_eq!(document["detail"], "x");
    }
}
