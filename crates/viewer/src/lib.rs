//! The page that shows a run, and what feeds it.
//!
//! A [`Server`] listens on the loopback address and hands out the page and one [`Source`]: a trace as a file, or a
//! [`Hub`] into which a world writes while it runs. What the page wants of a world that runs comes back as JSON, a
//! command at a time.
//!
//! Nobody else on the machine or on the web may read along: the address has a secret in it, requests that name another
//! host are refused, and so are those that come from the page of another origin (`guard`).

mod guard;
mod hub;
mod page;
mod server;
mod trace_file;

pub use hub::{Hub, Sink};
pub use server::{Server, Source};
