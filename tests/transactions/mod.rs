//! A call is a transaction: all of what it asked for, or nothing; and the receipt is true.

mod create;
mod dry_run;
mod filesystems;
mod receipts;
mod replace;
