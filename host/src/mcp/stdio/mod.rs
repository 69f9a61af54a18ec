//! MCP over the standard streams: one JSON-RPC message a line.
//!
//! The SDK's own transport costs a thread hop for each message (measured: +60 µs a ping),
//! and takes sockets, which Node gives its children, for files. This one reads and writes
//! on the thread that serves.

mod apart;
mod ids;
mod input;
mod lines;
pub(super) mod message;
mod output;
mod requests;

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::thread;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolResult, ClientJsonRpcMessage, ContentBlock, GetExtensions, JsonRpcMessage,
    ServerJsonRpcMessage, ServerResult,
};
use rmcp::transport::Transport;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::task::coop::consume_budget;
use tokio_util::sync::CancellationToken;

use super::handler::Handler;
use super::threads::Threads;
use super::under_way::{MAX_UNSENT, UnderWay};
use apart::Apart;
use ids::Ids;
use input::Input;
use lines::Lines;
use message::Understood;
pub(super) use output::Output;
use requests::Requests;

/// Answers with more text than this are put into JSON beside other work.
const LARGE: usize = 256 << 10;
/// How long the client may take to read what was written before the end.
const LAST_LINES: Duration = Duration::from_secs(1);

/// The standard streams, from before the kernel confines the program.
#[derive(Debug)]
pub(super) struct Streams {
    input: OwnedFd,
    output: output::Prepared,
    /// With one processor, looking at the input would keep the client from going on.
    may_look: bool,
}

impl Streams {
    pub(super) fn open() -> io::Result<Self> {
        let output = io::stdout().as_fd().try_clone_to_owned()?;
        Ok(Self {
            input: io::stdin().as_fd().try_clone_to_owned()?,
            output: output::Prepared::new(output)?,
            may_look: thread::available_parallelism().is_ok_and(|processors| processors.get() > 1),
        })
    }
}

/// A descriptor whose readiness can be awaited.
#[expect(
    deprecated,
    reason = "it is unsound for types that do not own their descriptor; this one does"
)]
fn awaited(descriptor: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(descriptor, interest)
}

/// The SDK's view of the standard streams.
pub(super) struct Stdio {
    input: Input,
    lines: Lines,
    answers: Answers,
    requests: Requests,
    apart: Apart,
    /// A message that waits for its place, and the bytes that it takes.
    waiting: Option<(Box<ClientJsonRpcMessage>, usize)>,
    begun: bool,
    /// Cancelled when no more can come from the client.
    ended: CancellationToken,
}

impl Stdio {
    pub(super) fn new(
        streams: Streams,
        threads: Threads,
        handler: Handler,
        ended: CancellationToken,
    ) -> io::Result<Self> {
        if streams.may_look {
            threads.pause().looks_at(streams.input.try_clone()?);
        }
        let output = Output::new(streams.output)?;
        Ok(Self {
            input: Input::new(streams.input)?,
            lines: Lines::default(),
            requests: Requests::answered_by(output.clone()),
            answers: Answers {
                threads,
                output,
                ids: Ids::default(),
            },
            apart: Apart::with(handler),
            waiting: None,
            begun: false,
            ended,
        })
    }

    /// The next message. Losing the future loses nothing: what was read stays in `self`.
    async fn next(&mut self) -> io::Result<Option<ClientJsonRpcMessage>> {
        loop {
            if let Some((message, weight)) = &self.waiting {
                let place = match **message {
                    JsonRpcMessage::Request(_) => self.requests.place(*weight).await,
                    // A small one, such as a cancellation, does not wait for what it cancels.
                    JsonRpcMessage::Notification(_) if *weight > requests::PIECE => {
                        self.requests.place(*weight).await
                    }
                    _ => None,
                };
                if let Some((message, _)) = self.waiting.take() {
                    match self.apart.take(*message, place, &self.answers) {
                        Some((message, place)) => return Ok(Some(self.admit(message, place))),
                        None => continue,
                    }
                }
            }
            // What was read before has its turn, however much comes at once.
            consume_budget().await;
            self.answers.output.has_at_most(MAX_UNSENT).await;
            if let Some(line) = self.lines.next() {
                self.take(&line);
                continue;
            }
            if self.ended.is_cancelled() {
                return Ok(None);
            }
            if self.input.read(self.lines.chunk()).await? == 0 {
                self.ended.cancel();
                // A last message may lack the end of its line.
                if let Some(line) = self.lines.rest() {
                    self.take(&line);
                }
            }
        }
    }

    fn take(&mut self, line: &lines::Line) {
        match message::understand(line) {
            Understood::Nothing => {}
            Understood::Answer(answer) => self.answer(answer),
            Understood::Message(message, weight) => {
                if message::begins(&message) {
                    self.begun = true;
                    self.apart.hear(&message);
                }
                if self.begun || matches!(*message, JsonRpcMessage::Request(_)) {
                    self.waiting = Some((message, weight));
                }
            }
        }
    }

    /// A message with our number for its id, if it has one, and its place.
    fn admit(
        &self,
        mut message: ClientJsonRpcMessage,
        place: Option<UnderWay>,
    ) -> ClientJsonRpcMessage {
        self.answers.ids.number(&mut message, place.as_ref());
        let extensions = match &mut message {
            JsonRpcMessage::Request(request) => request.request.extensions_mut(),
            JsonRpcMessage::Notification(notice) => notice.notification.extensions_mut(),
            _ => return message,
        };
        if let Some(place) = place {
            extensions.insert(place);
        }
        message
    }

    /// Writes an answer of the transport's own.
    fn answer(&self, mut line: Vec<u8>) {
        line.push(b'\n');
        tokio::spawn(self.answers.output.write(line));
    }

    /// Waits until every request has been answered.
    async fn idle(&self) {
        self.requests.idle().await;
        self.answers.output.has_at_most(0).await;
    }
}

/// Where messages to the client go.
#[derive(Clone, Debug)]
struct Answers {
    threads: Threads,
    output: Output,
    ids: Ids,
}

impl Answers {
    /// Writes a message under the client's id, unless that was cancelled.
    fn send(
        &self,
        mut message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + use<> {
        let answered = self.ids.restore(&mut message);
        let output = self.output.clone();
        let is_of_call = result_of_call(&message).is_some();
        self.threads.pause().has_answered(is_of_call);
        let written = answered
            .is_wanted()
            .then(|| match text_in(&message) > LARGE {
                false => Ok(write(&output, &message)),
                true => Err(self.threads.beside(move || write(&output, &message))),
            });
        async move {
            let result = match written {
                None => Ok(()),
                Some(Ok(written)) => written?.await,
                Some(Err(writing)) => writing.await.map_err(io::Error::other)??.await,
            };
            // Only now is there room for another request.
            drop(answered);
            result
        }
    }
}

impl Transport<RoleServer> for Stdio {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.apart.tell(&message);
        self.answers.send(message)
    }

    /// At the end of the input the calls that are under way are still answered: a client
    /// may close its end once it has asked everything.
    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let output = self.answers.output.clone();
        tokio::select! {
            next = self.next() => if let Ok(Some(message)) = next {
                return Some(message);
            },
            () = output.broken() => {
                self.ended.cancel();
                return None;
            }
        }
        self.ended.cancel();
        tokio::select! {
            () = self.idle() => {}
            () = output.broken() => {}
        }
        None
    }

    async fn close(&mut self) -> io::Result<()> {
        // Whoever does not read has no claim to the rest.
        let _ = tokio::time::timeout(LAST_LINES, self.idle()).await;
        Ok(())
    }
}

fn write(
    output: &Output,
    message: &ServerJsonRpcMessage,
) -> io::Result<impl Future<Output = io::Result<()>> + Send + use<>> {
    // A little more than the text, so that small escapes need no second buffer.
    let mut line = Vec::with_capacity(512 + text_in(message) * 9 / 8);
    serde_json::to_writer(&mut line, message)?;
    line.push(b'\n');
    Ok(output.write(line))
}

fn result_of_call(message: &ServerJsonRpcMessage) -> Option<&CallToolResult> {
    match message {
        JsonRpcMessage::Response(response) => match &response.result {
            ServerResult::CallToolResult(result) => Some(result),
            _ => None,
        },
        _ => None,
    }
}

/// Bytes of a result's texts.
fn text_in(message: &ServerJsonRpcMessage) -> usize {
    let Some(result) = result_of_call(message) else {
        return 0;
    };
    let of_block = |block: &ContentBlock| match block {
        ContentBlock::Text(text) => text.text.len(),
        ContentBlock::Image(image) => image.data.len(),
        ContentBlock::Audio(audio) => audio.data.len(),
        _ => 0,
    };
    result.content.iter().map(of_block).sum()
}
