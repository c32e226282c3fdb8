//! `driftlock view`: a trace in the browser.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use driftlock_trace::Reader;
use driftlock_viewer::{Hub, Server, Source};
use serde_json::json;

use crate::failure::{Failure, Outcome};
use crate::results::print;

const EXAMPLES: &str = "\
The page is part of this program and needs no network. It is served on 127.0.0.1 only, at an address with a secret in it, until \
you press ctrl-c.

Examples:
  driftlock sim --field walkers --entries 100 --replications 1 --trace run.jsonl
  driftlock view run.jsonl
  driftlock check krl --as-published --view        a counterexample, step by step
  driftlock sim --field walkers --view             a simulation while it runs
  driftlock demo                                   one to meddle with

docs/viewer.md says what the page shows.";

/// The flags of `driftlock view`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The trace to show (see driftlock sim --trace); one that ends in .zst is decompressed
    file: PathBuf,
    #[command(flatten)]
    at: At,
}

/// Where the page is served.
#[derive(Clone, Copy, clap::Args)]
pub(crate) struct At {
    /// Serve the page on this port; 0 is any that is free [default: 0]
    #[arg(long, value_name = "PORT", allow_hyphen_values = true)]
    port: Option<u16>,
}

impl At {
    /// Whether a port was asked for.
    pub(crate) fn is_given(self) -> bool {
        self.port.is_some()
    }

    /// A place to serve the page from.
    pub(crate) fn server(self) -> Result<Server, Failure> {
        let port = self.port.unwrap_or(0);
        let free = if port == 0 { "" } else { ": choose another --port, or leave it out" };
        Server::bind(port).map_err(|error| {
            Failure::Other(format!("cannot serve the page on port {port} of 127.0.0.1: {error}{free}"))
        })
    }
}

pub(crate) fn run(args: &Args) -> Outcome {
    // What is no trace at all is better said here than in a page.
    Reader::open(&args.file).map_err(|error| Failure::Replay { path: args.file.clone(), error: error.into() })?;
    show(args.at, Source::File(args.file.clone()))
}

/// Shows a trace that is in memory.
pub(crate) fn show_bytes(at: At, name: &str, bytes: &[u8]) -> Outcome {
    let lines: Arc<str> = String::from_utf8_lossy(bytes).into();
    show(at, Source::Text { name: name.into(), lines })
}

fn show(at: At, source: Source) -> Outcome {
    let server = at.server()?;
    print(&announcement(&server))?;
    server.run(source).map_err(|error| Failure::Other(format!("the page cannot be served any more: {error}")))?;
    Ok(ExitCode::SUCCESS)
}

/// Words for those who watch a stream.
pub(crate) fn tell(hub: &Hub, words: &str) {
    hub.tell(&json!({ "told": words }).to_string());
}

/// Where the page is.
pub(crate) fn announcement(server: &Server) -> String {
    format!("the page is at {}\n(ctrl-c ends it)\n", server.address())
}
