//! Calls of which the SDK's session is not told. Where it was opened by `initialize` and nobody
//! is asked, it has nothing to add to a call that says only what it wants, and hands it through
//! two tasks and two queues.

use rmcp::model::{
    CallToolRequestParams, ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, JsonRpcRequest,
    RequestId, RequestMetaObject, ServerJsonRpcMessage, ServerResult,
};
use tokio_util::sync::CancellationToken;

use super::Answers;
use crate::mcp::handler::Handler;
use crate::mcp::under_way::UnderWay;

/// Who makes such calls, and whether the session is one that has them.
#[derive(Debug)]
pub(super) struct Apart {
    handler: Handler,
    session: Session,
}

#[derive(Debug)]
enum Session {
    /// Not begun.
    None,
    /// The client said who it is, and that it can be asked nothing.
    Introduced,
    /// The server agreed.
    Open,
    /// Any other.
    Other,
}

impl Apart {
    pub(super) fn with(handler: Handler) -> Self {
        Self {
            handler,
            session: Session::None,
        }
    }

    /// A message came from the client with which a session begins.
    pub(super) fn hear(&mut self, message: &ClientJsonRpcMessage) {
        let JsonRpcMessage::Request(request) = message else {
            return;
        };
        self.session = match (&self.session, &request.request) {
            (Session::None, ClientRequest::InitializeRequest(it))
                if self.handler.asks_nobody_at(it.params.capabilities.clone()) =>
            {
                Session::Introduced
            }
            (_, ClientRequest::InitializeRequest(_)) | (Session::None, _) => Session::Other,
            _ => return,
        };
    }

    /// A message goes to the client.
    pub(super) fn tell(&mut self, message: &ServerJsonRpcMessage) {
        if let (Session::Introduced, JsonRpcMessage::Response(response)) = (&self.session, message)
            && matches!(response.result, ServerResult::InitializeResult(_))
        {
            self.session = Session::Open;
        }
    }

    /// Begins the call that a message is, if it is one of these; else gives the message back.
    pub(super) fn take(
        &self,
        message: ClientJsonRpcMessage,
        place: Option<UnderWay>,
        answers: &Answers,
    ) -> Option<(ClientJsonRpcMessage, Option<UnderWay>)> {
        match (message, place) {
            (
                JsonRpcMessage::Request(JsonRpcRequest {
                    id,
                    request: ClientRequest::CallToolRequest(call),
                    ..
                }),
                Some(place),
            ) if matches!(self.session, Session::Open)
                && call.extensions.get::<RequestMetaObject>().is_none() =>
            {
                self.call(id, call.params, place, answers);
                None
            }
            other => Some(other),
        }
    }

    fn call(&self, id: RequestId, call: CallToolRequestParams, place: UnderWay, answers: &Answers) {
        let unwanted = CancellationToken::new();
        let number = answers
            .ids
            .number_apart(id, place.clone(), unwanted.clone());
        let (handler, answers) = (self.handler.clone(), answers.clone());
        tokio::spawn(async move {
            let answer = answer(&handler, number, call, unwanted, place).await;
            // Whoever is gone needs no answer.
            let _ = answers.send(answer).await;
        });
    }
}

/// What the SDK answers to the call in a session that was opened by `initialize`.
async fn answer(
    handler: &Handler,
    id: RequestId,
    call: CallToolRequestParams,
    unwanted: CancellationToken,
    place: UnderWay,
) -> ServerJsonRpcMessage {
    match handler.call_alone(call, unwanted, place).await {
        Ok(response) => {
            let mut result = ServerResult::from(response);
            result.strip_result_type_for_legacy_peer();
            ServerJsonRpcMessage::response(result, id)
        }
        Err(error) => ServerJsonRpcMessage::error(error, Some(id)),
    }
}
