//! Listens on the loopback address and answers the page.

use std::fmt::Write;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use serde_json::json;

use crate::guard::{Guard, HEADERS};
use crate::hub::{Hub, Place};
use crate::{page, trace_file};

/// The longest command that a page may send.
const COMMAND_MAX: usize = 1 << 16;

/// Takes a command of a page, as it came.
type Commands = dyn Fn(&str) + Send + Sync;

/// What a page is fed with.
#[derive(Clone)]
pub enum Source {
    /// The trace in this file.
    File(PathBuf),
    /// A trace that is in memory, under this name.
    Text {
        /// What the page calls it.
        name: String,
        /// Its lines.
        lines: Arc<str>,
    },
    /// A trace that grows.
    Stream {
        /// What the page calls it.
        name: String,
        /// Where it is written to.
        hub: Hub,
        /// What takes the commands of the page.
        commands: Arc<Commands>,
    },
}

/// A place to listen, with an address that nobody guesses.
pub struct Server {
    listener: TcpListener,
    guard: Guard,
    address: String,
}

struct Shared {
    guard: Guard,
    source: Source,
}

impl Server {
    /// Listens on this port of the loopback address, or on any that is free if it is 0.
    pub fn bind(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
        let port = listener.local_addr()?.port();
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
        let secret = random.iter().fold(String::new(), |mut secret, byte| {
            _ = write!(secret, "{byte:02x}");
            secret
        });
        let address = format!("http://127.0.0.1:{port}/{secret}/");
        Ok(Self { listener, guard: Guard::new(secret, port), address })
    }

    /// Where the page is.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Answers until the process ends.
    pub fn run(self, source: Source) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        runtime.block_on(async {
            self.listener.set_nonblocking(true)?;
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            axum::serve(listener, routes(Arc::new(Shared { guard: self.guard, source }))).await
        })
    }
}

fn routes(shared: Arc<Shared>) -> Router {
    Router::new()
        .route(
            "/{secret}",
            get(|Path(secret): Path<String>| async move { Redirect::permanent(&format!("/{secret}/")) }),
        )
        .route("/{secret}/", get(|| async { file("") }))
        .route("/{secret}/feed.json", get(feed))
        .route("/{secret}/trace", get(trace))
        .route("/{secret}/stream", get(stream))
        .route("/{secret}/{file}", get(|Path((_, name)): Path<(String, String)>| async move { file(&name) }))
        .layer(middleware::from_fn_with_state(shared.clone(), admit))
        .with_state(shared)
}

/// Turns away whoever is not the page, without a word about what there is.
async fn admit(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let secret = request.uri().path().split('/').nth(1).unwrap_or_default();
    let admitted = shared.guard.knows(secret) && shared.guard.admits(request.headers());
    let mut response =
        if admitted { next.run(request).await } else { (StatusCode::FORBIDDEN, "not for you\n").into_response() };
    response.headers_mut().extend(HEADERS);
    response
}

fn file(name: &str) -> Response {
    page::file(name).unwrap_or_else(|| (StatusCode::NOT_FOUND, "there is no such file\n").into_response())
}

/// What there is to be shown.
async fn feed(State(shared): State<Arc<Shared>>) -> Response {
    let feed = match &shared.source {
        Source::File(path) => {
            let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
            json!({ "source": "file", "name": name })
        }
        Source::Text { name, .. } => json!({ "source": "file", "name": name }),
        Source::Stream { name, .. } => json!({ "source": "stream", "name": name }),
    };
    ([(header::CONTENT_TYPE, "application/json")], feed.to_string()).into_response()
}

async fn trace(State(shared): State<Arc<Shared>>) -> Response {
    let plain = [(header::CONTENT_TYPE, "text/plain; charset=utf-8")];
    match &shared.source {
        Source::File(path) => (plain, trace_file::body(path)).into_response(),
        Source::Text { lines, .. } => (plain, lines.to_string()).into_response(),
        Source::Stream { .. } => file(""),
    }
}

async fn stream(State(shared): State<Arc<Shared>>, headers: HeaderMap, upgrade: WebSocketUpgrade) -> Response {
    // Browsers always say where a page comes from here; what says nothing is none.
    let Source::Stream { hub, commands, .. } = &shared.source else { return StatusCode::NOT_FOUND.into_response() };
    if !headers.contains_key(header::ORIGIN) {
        return StatusCode::FORBIDDEN.into_response();
    }
    let (hub, commands) = (hub.clone(), commands.clone());
    upgrade.max_message_size(COMMAND_MAX).on_upgrade(async move |socket| converse(socket, hub, &*commands).await)
}

/// Sends what is written, and takes commands, until the page is closed.
async fn converse(mut socket: WebSocket, hub: Hub, commands: &Commands) {
    let (mut place, mut news) = (Place::default(), hub.news());
    loop {
        for piece in hub.read_on(&mut place) {
            if socket.send(Message::text(&*piece)).await.is_err() {
                return;
            }
        }
        tokio::select! {
            changed = news.changed() => if changed.is_err() { return },
            received = socket.recv() => match received {
                Some(Ok(Message::Text(command))) => commands(&command),
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return,
            },
        }
    }
}
