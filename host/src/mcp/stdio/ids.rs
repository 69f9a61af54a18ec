//! Requests under way by numbers of our own. The SDK keeps one answer for an id: of two requests
//! with one id it would answer one, and give the next request with the id of a cancelled one
//! that one's answer.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};

use tokio_util::sync::CancellationToken;

use crate::mcp::under_way::UnderWay;

/// Which of the client's ids stands behind each number.
#[derive(Clone, Debug, Default)]
pub(super) struct Ids(Arc<Mutex<Numbers>>);

#[derive(Debug, Default)]
struct Numbers {
    last: i64,
    of_client: HashMap<i64, Asked>,
}

/// A request that has no answer yet.
#[derive(Debug)]
struct Asked {
    id: RequestId,
    place: Option<UnderWay>,
    /// Cancelled with it, where the SDK does not know of it.
    unwanted: Option<CancellationToken>,
}

/// Whether an answer is wanted, and the place of its request, which is kept until it is
/// written.
#[derive(Debug)]
pub(super) enum Answered {
    Wanted(#[expect(dead_code, reason = "dropping it gives the place back")] Option<UnderWay>),
    Unwanted,
}

impl Answered {
    pub(super) fn is_wanted(&self) -> bool {
        matches!(self, Self::Wanted(_))
    }
}

impl Ids {
    /// Gives a request its number, and a cancellation that of the newest request which it may
    /// mean; one that means none gets a number that no request has.
    pub(super) fn number(&self, message: &mut ClientJsonRpcMessage, place: Option<&UnderWay>) {
        match message {
            JsonRpcMessage::Request(request) => {
                let asked = Asked {
                    id: request.id.clone(),
                    place: place.cloned(),
                    unwanted: None,
                };
                request.id = self.numbers().add(asked);
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &mut notification.notification
                    && let Some(id) = &mut cancelled.params.request_id
                {
                    *id = RequestId::Number(self.numbers().cancel(id));
                }
            }
            _ => {}
        }
    }

    /// A number for a request of which the SDK is not told. `unwanted` is cancelled with it.
    pub(super) fn number_apart(
        &self,
        id: RequestId,
        place: UnderWay,
        unwanted: CancellationToken,
    ) -> RequestId {
        self.numbers().add(Asked {
            id,
            place: Some(place),
            unwanted: Some(unwanted),
        })
    }

    /// Gives an answer the client's id.
    pub(super) fn restore(&self, message: &mut ServerJsonRpcMessage) -> Answered {
        let id = match message {
            JsonRpcMessage::Response(response) => &mut response.id,
            JsonRpcMessage::Error(error) => match &mut error.id {
                Some(id) => id,
                None => return Answered::Wanted(None),
            },
            _ => return Answered::Wanted(None),
        };
        let RequestId::Number(number) = id else {
            return Answered::Wanted(None);
        };
        match self.numbers().of_client.remove(number) {
            Some(asked) => {
                *id = asked.id;
                Answered::Wanted(asked.place)
            }
            None => Answered::Unwanted,
        }
    }

    fn numbers(&self) -> MutexGuard<'_, Numbers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Numbers {
    fn next(&mut self) -> i64 {
        self.last += 1;
        self.last
    }

    fn add(&mut self, asked: Asked) -> RequestId {
        let number = self.next();
        self.of_client.insert(number, asked);
        RequestId::Number(number)
    }

    fn cancel(&mut self, id: &RequestId) -> i64 {
        let same = self.of_client.iter().filter(|(_, asked)| asked.id == *id);
        let Some(number) = same.map(|(number, _)| *number).max() else {
            return self.next();
        };
        let asked = self.of_client.remove(&number);
        if let Some(unwanted) = asked.and_then(|asked| asked.unwanted) {
            unwanted.cancel();
        }
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn numbered(ids: &Ids, message: Value) -> Value {
        let mut message = serde_json::from_value(message).expect("a message");
        ids.number(&mut message, None);
        serde_json::to_value(message).expect("JSON")
    }

    fn answered(ids: &Ids, number: &Value) -> Option<Value> {
        let answer = json!({ "jsonrpc": "2.0", "id": number, "result": {} });
        let mut answer = serde_json::from_value(answer).expect("an answer");
        ids.restore(&mut answer)
            .is_wanted()
            .then(|| serde_json::to_value(answer).expect("JSON")["id"].clone())
    }

    fn request(id: &Value) -> Value {
        json!({ "jsonrpc": "2.0", "id": id, "method": "ping" })
    }

    fn cancellation(id: &Value) -> Value {
        let params = json!({ "requestId": id });
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params })
    }

    #[test]
    fn two_requests_with_one_id_have_two_answers() {
        let ids = Ids::default();
        for id in [json!(7), json!("a")] {
            let one = numbered(&ids, request(&id))["id"].clone();
            let other = numbered(&ids, request(&id))["id"].clone();
            assert_ne!(one, other);
            assert_eq!(answered(&ids, &other), Some(id.clone()));
            assert_eq!(answered(&ids, &one), Some(id));
            assert_eq!(answered(&ids, &one), None);
        }
    }

    #[test]
    fn a_cancellation_means_the_request_with_its_id_and_no_other() {
        let ids = Ids::default();
        let first = numbered(&ids, request(&json!(50)))["id"].clone();
        // The client's own ids may be numbers that other requests have here.
        let unknown = numbered(&ids, cancellation(&first));
        assert_ne!(unknown["params"]["requestId"], first);
        let known = numbered(&ids, cancellation(&json!(50)));
        assert_eq!(known["params"]["requestId"], first);
        // The id is free again, and its next request has an answer of its own.
        let next = numbered(&ids, request(&json!(50)))["id"].clone();
        assert_eq!(answered(&ids, &first), None);
        assert_eq!(answered(&ids, &next), Some(json!(50)));
    }
}
