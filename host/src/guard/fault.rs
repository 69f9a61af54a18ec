//! How a WASI call ends other than well.

use rustix::io::Errno;
use wasmtime::component::ResourceTableError;

use crate::bindings::filesystem::ErrorCode;
use crate::errno;
use crate::error::CallError;
use crate::policy::Operation;
use crate::roots::RootIndex;

/// Why a call into the guard did not do what the guest asked.
#[derive(Debug)]
pub enum Fault {
    /// The guard said no; the audit log gets a `refusal`.
    Refused(Box<Refusal>),
    /// It was allowed and failed.
    Failed(Box<(ErrorCode, CallError)>),
    /// The deadline is over, and the call with it.
    Late,
    /// The call into the component ends here.
    Trap(wasmtime::Error),
}

/// A refusal with everything that the audit log says about it.
#[derive(Debug)]
pub struct Refusal {
    pub(crate) wasi: ErrorCode,
    pub(crate) error: CallError,
    pub(crate) operation: Operation,
    pub(crate) root: Option<RootIndex>,
    pub(crate) path: String,
    pub(crate) to: Option<(RootIndex, String)>,
}

impl Fault {
    /// A plain failure for which the errno says everything.
    pub(crate) fn errno(errno: Errno) -> Self {
        Self::failed(errno::wasi_code(errno), errno::explain(errno))
    }

    pub(crate) fn failed(wasi: ErrorCode, error: CallError) -> Self {
        Self::Failed(Box::new((wasi, error)))
    }

    /// The guest used a descriptor for what it is not.
    pub(crate) fn bad_descriptor() -> Self {
        Self::failed(
            ErrorCode::BadDescriptor,
            CallError::new(
                crate::error::code::IO,
                "the component used a descriptor that cannot do this",
            ),
        )
    }
}

impl From<Errno> for Fault {
    fn from(errno: Errno) -> Self {
        Self::errno(errno)
    }
}

impl From<ResourceTableError> for Fault {
    fn from(error: ResourceTableError) -> Self {
        Self::Trap(error.into())
    }
}

/// Why a stream call did not do what the guest asked.
#[derive(Debug)]
pub enum StreamFault {
    /// The end of the file.
    Closed,
    /// The same as for descriptors.
    Fault(Fault),
}

impl From<Fault> for StreamFault {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<ResourceTableError> for StreamFault {
    fn from(error: ResourceTableError) -> Self {
        Self::Fault(error.into())
    }
}
