//! Requests under way by numbers of our own. The SDK keeps one answer for an id: of two requests
//! with one id it would answer one, and give the next request with the id of a cancelled one
//! that one's answer.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};

/// Which of the client's ids stands behind each number.
#[derive(Clone, Debug, Default)]
pub(super) struct Ids(Arc<Mutex<Numbers>>);

#[derive(Debug, Default)]
struct Numbers {
    last: i64,
    of_client: HashMap<i64, RequestId>,
}

impl Ids {
    /// Gives a request its number, and a cancellation that of the newest request which it may
    /// mean; one that means none gets a number that no request has.
    pub(super) fn number(&self, message: &mut ClientJsonRpcMessage) {
        match message {
            JsonRpcMessage::Request(request) => {
                let number = self.numbers().next();
                let id = std::mem::replace(&mut request.id, RequestId::Number(number));
                self.numbers().of_client.insert(number, id);
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

    /// Gives an answer the client's id; says whether it is still wanted.
    pub(super) fn restore(&self, message: &mut ServerJsonRpcMessage) -> bool {
        let id = match message {
            JsonRpcMessage::Response(response) => &mut response.id,
            JsonRpcMessage::Error(error) => match &mut error.id {
                Some(id) => id,
                None => return true,
            },
            _ => return true,
        };
        let RequestId::Number(number) = id else {
            return true;
        };
        match self.numbers().of_client.remove(number) {
            Some(of_client) => {
                *id = of_client;
                true
            }
            None => false,
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

    fn cancel(&mut self, id: &RequestId) -> i64 {
        let same = self.of_client.iter().filter(|(_, other)| *other == id);
        match same.map(|(number, _)| *number).max() {
            Some(number) => {
                self.of_client.remove(&number);
                number
            }
            None => self.next(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn numbered(ids: &Ids, message: Value) -> Value {
        let mut message = serde_json::from_value(message).expect("a message");
        ids.number(&mut message);
        serde_json::to_value(message).expect("JSON")
    }

    fn answered(ids: &Ids, number: &Value) -> Option<Value> {
        let answer = json!({ "jsonrpc": "2.0", "id": number, "result": {} });
        let mut answer = serde_json::from_value(answer).expect("an answer");
        ids.restore(&mut answer)
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
