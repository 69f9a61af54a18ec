//! File tools that an LLM agent can be given without handing it the machine.
//!
//! A [`Session`] holds directory handles (the grants), a [`Policy`], an [`AuditLog`] and a
//! tool component. Each [`Session::call`] runs the component in a fresh instance that can
//! see nothing but those directories, and the policy is asked at every WASI call below it,
//! so it also holds for a component that lies. What a call changes is staged, approved,
//! committed and recorded.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let (inputs, reports) = (tempfile::tempdir()?, tempfile::tempdir()?);
//! # std::fs::write(inputs.path().join("notes.md"), "hello")?;
//! # let (inputs, reports) = (inputs.path(), reports.path());
//! use rootbound::{AuditLog, Session};
//!
//! let session = Session::builder()
//!     .read_root(inputs)
//!     .write_root(reports)
//!     .audit(AuditLog::none())
//!     .build()?;
//! let notes = session.call("read_file", r#"{"path": "notes.md"}"#)?;
//! assert_eq!(notes.text(), Some("hello"));
//!
//! let report = r#"{"path": "report.md", "content": "done"}"#;
//! session.call("write_file", report)?;
//! let again = session.call("create_file", r#"{"file_path": "report.md", "content": ""}"#);
//! assert_eq!(again.unwrap_err().code(), "exists");
//! # Ok(())
//! # }
//! ```
//!
//! | to | see |
//! |---|---|
//! | choose what is granted and what may be done | [`SessionBuilder`] |
//! | call tools | [`Session`], [`Output`], [`CallError`] |
//! | ask a person before something is destroyed | [`Approver`], [`ApprovalQueue`] |
//! | ask the same about tools of your own | [`Broker`] |
//! | record what happens | [`AuditLog`], [`AuditSink`] |
//! | read a record, and trust it | [`LogVerifier`] |
//! | run other tools | [`ToolComponent`], [`ComponentLoader`] |
//! | run many components for many tenants | [`ToolHost`], [`Tenant`] |
//! | look at a component without running it | [`Inspection`], [`Manifest`] |
//!
//! This crate does not restrict the process that uses it, and it does not protect against
//! other processes that may write to the granted directories; `SECURITY.md` says what is
//! promised and what is not.

#[cfg(not(target_os = "linux"))]
compile_error!("rootbound runs on Linux only: it relies on openat2 and on unnamed temporary files");

mod ambient;
mod approval;
mod arguments;
mod audit;
mod bindings;
mod builder;
mod clock;
mod component;
mod configuration;
mod default_encoding;
mod embedded;
#[path = "../engine_config.rs"]
mod engine_config;
mod errno;
mod error;
mod expected;
mod explain;
mod failures;
mod gate;
mod guard;
mod guest_log;
mod hook;
mod journal;
mod kept;
mod kernel;
mod linked;
mod named_root;
mod optional;
mod output;
mod paths;
mod patterns;
mod place;
mod policy;
#[cfg(feature = "oci")]
mod pulled;
mod quotas;
mod random;
mod recorder;
mod resolved;
mod respell;
mod roots;
mod running;
mod screen;
mod session;
mod session_directory;
mod shared;
mod spare;
mod tool_host;
mod toolset;
mod trace;
mod transaction;
mod walk;
mod written;

pub use approval::{
    ApprovalQueue, ApprovalRequest, ApprovalState, ApproveEverythingUnseen, Approver,
    AsyncApprover, Broker, BrokerAnswer, Decision, Nobody, QueueError, QueuedApproval,
    RefuseEverything, Scope, TerminalApprover, Unanswered,
};
pub use audit::{
    AuditFault, AuditKey, AuditLog, AuditObserver, AuditPublicKey, AuditSink, LogVerifier,
    NoPublicKey, Rotation, TracingSink, Unsettled, VerifiedLog, log_head, verify_log,
};
#[cfg(feature = "otel")]
pub use audit::{OtlpError, OtlpObserver};
pub use builder::{SessionBuilder, StartError};
pub use component::{
    ComponentCache, ComponentError, ComponentLoader, DeclaredLimits, Definition, Import, Imported,
    Inspection, InvalidKey, Manifest, PathArgument, PathRole, Producer, Standing, ToolComponent,
    TrustedKey, component_code, nests_deeply, read_component,
};
pub use configuration::read_configuration;
pub use default_encoding::is_encoding;
pub use error::{CallError, Ending, code};
pub use explain::{Inside, RootReport};
pub use kernel::{ConfineError, KernelConfinement};
pub use optional::GuestLine;
pub use output::{Content, Output, Receipt, json_length};
pub use paths::{PathRules, is_windows_device};
pub use patterns::{Denied, PatternError, Patterns, SECRETS};
pub use policy::{Consent, Durability, LimitError, Limits, Operation, Policy, RiskClass};
#[cfg(feature = "oci")]
pub use pulled::PulledFiles;
pub use quotas::Quotas;
pub use roots::{Grant, Rights};
pub use screen::{escaped, escaped_json};
pub use session::{Arguments, CallOptions, CallWatch, Session};
pub use tool_host::{HostError, HostedTool, Tenant, ToolHost};
pub use toolset::Toolset;
pub use trace::{NoTraceParent, TraceParent};
pub use transaction::{Covers, EffectReceipt};
pub use walk::Version;
pub use written::{
    NewFile, begins_as_component, read_input_file, write_new_directory, write_output_file,
};
