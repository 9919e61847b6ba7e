//! What came back from one request of a buyer, in the words of the load's history.

use std::error::Error;
use std::io;

use goose::goose::{GooseRequest, GooseUser};
use goose::metrics::GooseRequestMetric;

use super::calls::Call;
use super::step::Step;
use crate::load::reason::Ending;

/// A whole answer, or how it was lost.
#[derive(Debug)]
pub enum Answer {
    Whole { status: u16, body: Vec<u8> },
    Lost(Ending),
}

/// Sends one request by Goose, which measures and counts it, and reads the answer to its end.
pub async fn exchange(
    user: &mut GooseUser,
    step: Step,
    call: Call,
) -> (Answer, Option<GooseRequestMetric>) {
    let Ok(mut request) = user.get_request_builder(&call.method, &call.path) else {
        return (Answer::Lost(Ending::BadAnswer), None);
    };
    for (name, value) in &call.headers {
        request = request.header(name, value);
    }
    // An empty body is sent as one: a POST without a length is refused by many servers.
    if !call.body.is_empty() || call.method != goose::goose::GooseMethod::Get {
        request = request.body(call.body);
    }
    let request = GooseRequest::builder()
        .name(step.name())
        .set_request_builder(request)
        .build();
    // Goose fails here only when it cannot count; whether it had sent, nobody can tell.
    let Ok(answered) = user.request(request).await else {
        return (Answer::Lost(Ending::BadAnswer), None);
    };
    let answer = match answered.response {
        Ok(response) => whole(response).await,
        Err(error) => Answer::Lost(ending(&error)),
    };
    (answer, Some(answered.request))
}

async fn whole(response: reqwest::Response) -> Answer {
    let status = response.status().as_u16();
    match response.bytes().await {
        Ok(body) => Answer::Whole {
            status,
            body: body.to_vec(),
        },
        Err(error) if error.is_timeout() => Answer::Lost(Ending::Timeout),
        Err(_) => Answer::Lost(Ending::HalfAnswer),
    }
}

/// How a request without an answer ended. One that could not even connect counts as reset: nothing was
/// sent, but to the buyer it is the same.
fn ending(error: &reqwest::Error) -> Ending {
    if error.is_timeout() {
        return Ending::Timeout;
    }
    if error.is_connect() {
        return Ending::Reset;
    }
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(one) = cause {
        match one.downcast_ref::<io::Error>().map(io::Error::kind) {
            Some(io::ErrorKind::UnexpectedEof) => return Ending::HalfAnswer,
            Some(_) => return Ending::Reset,
            None if is_no_http(&one.to_string()) => return Ending::BadAnswer,
            None => cause = one.source(),
        }
    }
    Ending::Closed
}

/// The HTTP library's own error has no type that we could ask.
fn is_no_http(text: &str) -> bool {
    ["parsed", "unexpected message", "too large"]
        .iter()
        .any(|words| text.contains(words))
}
