//! One call: run beside the serving of other messages, cancelled when nobody wants it any
//! more, answered at its deadline whatever the kernel does.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{ErrorData, ProgressNotificationParam, ProgressToken};
use rmcp::{Peer, RoleServer};
use rootbound::{CallError, CallOptions, CallWatch, Output, Tenant};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::approvals::Question;
use super::places::Places;
use super::threads::Threads;
use super::under_way::UnderWay;

/// How much later than the guest's deadline the caller's is: the guest's answer is better.
const GRACE: Duration = Duration::from_millis(500);
/// How often a caller who asked for it hears how far its call is.
const PROGRESS: Duration = Duration::from_millis(500);

/// What all calls of the server share.
#[derive(Debug)]
pub(super) struct Calls {
    places: Places,
    threads: Threads,
    /// Cancelled when the server has to end: what runs is discarded, what commits ends.
    pub(super) stopping: CancellationToken,
    /// Cancelled when nobody can answer a question any more.
    pub(super) unheard: CancellationToken,
}

/// What is called, and who is told.
pub(super) struct Call {
    pub(super) tenant: Tenant,
    pub(super) tool: String,
    pub(super) arguments: Vec<u8>,
    pub(super) options: CallOptions,
    /// Cancelled when the caller does not want the answer any more.
    pub(super) unwanted: CancellationToken,
    /// Its place among the requests; free when the call has ended too.
    pub(super) place: Option<UnderWay>,
    pub(super) progress: Option<(Peer<RoleServer>, ProgressToken)>,
    /// What the call asks the person at the client.
    pub(super) questions: Option<UnboundedReceiver<Question>>,
}

impl Calls {
    pub(super) fn on(threads: Threads) -> Self {
        let stopping = CancellationToken::new();
        Self {
            places: Places::default(),
            threads,
            unheard: stopping.child_token(),
            stopping,
        }
    }

    /// Runs a call to its end, which may come from outside.
    ///
    /// # Errors
    ///
    /// A protocol error only when the call's thread failed.
    pub(super) async fn run(&self, call: Call) -> Result<Result<Output, CallError>, ErrorData> {
        let watch = Arc::new(CallWatch::default());
        let Some(place) = self.places.take(&call.tool, call.tenant.principal()).await else {
            return Err(ErrorData::internal_error("the server ends", None));
        };
        let Call {
            tenant,
            tool,
            arguments,
            mut options,
            unwanted,
            place: request,
            progress,
            mut questions,
        } = call;
        // What ends without beginning is recorded like what ends early.
        tokio::select! {
            biased;
            () = room(request.as_ref()) => {}
            () = either(&unwanted, &self.stopping) => {}
        }
        options.watch = Some(Arc::clone(&watch));
        let (running, name) = (tenant.clone(), tool.clone());
        // A place is free when the call has ended, also where nobody waited for that.
        let mut ending = self.threads.beside(move || {
            let result = running.call_with(&name, arguments, options);
            (result, place)
        });
        let patience = tenant.timeout(&tool) + GRACE;
        let mut deadline = Instant::now() + patience;
        let mut next_progress = Instant::now() + PROGRESS;
        let (mut cancelled, mut told) = (false, 0);
        loop {
            tokio::select! {
                biased;
                ended = &mut ending => {
                    let ended = ended.map(|(result, _)| result);
                    return ended.map_err(|_| ErrorData::internal_error("the call failed", None));
                }
                () = either(&unwanted, &self.stopping), if !cancelled => {
                    cancelled = true;
                    watch.cancel();
                }
                () = sleep_until(deadline) => match tenant.abandon(&tool, &watch) {
                    Some(error) => return Ok(Err(error)),
                    None => deadline += patience,
                },
                () = sleep_until(next_progress), if progress.is_some() => {
                    next_progress += PROGRESS;
                    if let Some(progress) = &progress {
                        tell(progress, &watch, &mut told).await;
                    }
                }
                Some(question) = next(&mut questions) => {
                    question.ask(&unwanted, &self.unheard).await;
                }
            }
        }
    }

    /// Waits until no call runs.
    pub(super) async fn idle(&self) {
        self.places.idle().await;
    }
}

/// Waits until the client has taken what was answered before: a result that nobody reads is
/// not made.
async fn room(request: Option<&UnderWay>) {
    if let Some(request) = request {
        request.room().await;
    }
}

/// The next question, if there can be any.
async fn next(questions: &mut Option<UnboundedReceiver<Question>>) -> Option<Question> {
    match questions {
        Some(questions) => questions.recv().await,
        None => None,
    }
}

async fn either(one: &CancellationToken, other: &CancellationToken) {
    tokio::select! {
        () = one.cancelled() => {}
        () = other.cancelled() => {}
    }
}

/// Tells how far the call is, if it got any further.
async fn tell(progress: &(Peer<RoleServer>, ProgressToken), watch: &CallWatch, told: &mut u64) {
    let ((peer, token), operations) = (progress, watch.operations());
    if operations > *told {
        *told = operations;
        let told = ProgressNotificationParam::new(token.clone(), operations as f64)
            .with_message(format!("{operations} file operations"));
        // Whoever is gone needs no progress.
        let _ = peer.notify_progress(told).await;
    }
}
