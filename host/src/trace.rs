//! The trace that a call belongs to, as the caller says it.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::random;

/// The only version that is written; later ones begin with the same four parts.
const VERSION: &str = "00";
/// A version that there will never be.
const NO_VERSION: &str = "ff";

/// Where a call stands in the caller's trace: the `traceparent` of W3C Trace Context, level 1.
///
/// # Examples
///
/// ```
/// use rootbound::TraceParent;
///
/// let text = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
/// let parent: TraceParent = text.parse()?;
/// assert_eq!(parent.to_string(), text);
/// assert!("00-0-0-01".parse::<TraceParent>().is_err());
/// # Ok::<(), rootbound::NoTraceParent>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceParent {
    pub(crate) trace: [u8; 16],
    pub(crate) span: [u8; 8],
    pub(crate) flags: u8,
}

/// A text is no `traceparent`.
#[derive(Debug, thiserror::Error)]
#[error("a trace parent is `00-`, 32 hexadecimal digits, `-`, 16 of them, `-` and two flags")]
pub struct NoTraceParent;

impl TraceParent {
    fn read(text: &str) -> Option<Self> {
        if text.contains(char::is_uppercase) {
            return None;
        }
        let mut parts = text.split('-');
        let [version, trace, span, flags] = std::array::from_fn(|_| parts.next());
        let version = version?;
        let _: [u8; 1] = random::bytes_of(version).filter(|_| version != NO_VERSION)?;
        if version == VERSION && parts.next().is_some() {
            return None;
        }
        let [flags] = random::bytes_of(flags?)?;
        let read = Self {
            trace: random::bytes_of(trace?)?,
            span: random::bytes_of(span?)?,
            flags,
        };
        (read.trace != [0; 16] && read.span != [0; 8]).then_some(read)
    }
}

impl FromStr for TraceParent {
    type Err = NoTraceParent;

    fn from_str(text: &str) -> Result<Self, NoTraceParent> {
        Self::read(text).ok_or(NoTraceParent)
    }
}

impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (trace, span) = (random::hex_of(&self.trace), random::hex_of(&self.span));
        write!(f, "{VERSION}-{trace}-{span}-{:02x}", self.flags)
    }
}

impl Serialize for TraceParent {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const SPAN: &str = "00f067aa0ba902b7";

    #[test]
    fn what_the_standard_says_is_read() {
        for (text, flags) in [
            (format!("00-{TRACE}-{SPAN}-00"), "00"),
            (format!("00-{TRACE}-{SPAN}-03"), "03"),
            (format!("cc-{TRACE}-{SPAN}-01-what-comes-later"), "01"),
        ] {
            let read = text.parse::<TraceParent>().map(|read| read.to_string());
            assert_eq!(read.ok(), Some(format!("00-{TRACE}-{SPAN}-{flags}")));
        }
    }

    #[test]
    fn what_it_does_not_say_is_not() {
        for text in [
            String::new(),
            format!("00-{TRACE}-{SPAN}"),
            format!("00-{TRACE}-{SPAN}-01-more"),
            format!("00-{TRACE}-{SPAN}-1"),
            format!("ff-{TRACE}-{SPAN}-01"),
            format!("0-{TRACE}-{SPAN}-01"),
            format!(" 00-{TRACE}-{SPAN}-01"),
            format!("00-{}-{SPAN}-01", TRACE.to_uppercase()),
            format!("00-{}-{SPAN}-01", "0".repeat(32)),
            format!("00-{TRACE}-{}-01", "0".repeat(16)),
            format!("00-{TRACE}-{SPAN}-01\n"),
            format!("00-{TRACE}{SPAN}-01"),
        ] {
            assert!(text.parse::<TraceParent>().is_err(), "{text:?}");
        }
    }
}
