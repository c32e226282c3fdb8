//! The server from outside, in bare HTTP.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use driftlock_viewer::{Hub, Server, Source};

/// Serves this, and gives the host and the path of the page.
fn serve(source: Source) -> (String, String) {
    let server = Server::bind(0).expect("a free port");
    let address = server.address().strip_prefix("http://").expect("an address").to_owned();
    thread::spawn(move || server.run(source));
    let (host, path) = address.split_once('/').expect("a path");
    (host.to_owned(), format!("/{path}"))
}

fn text(lines: &str) -> Source {
    Source::Text { name: "<b>run</b>".into(), lines: lines.into() }
}

/// Asks, with these headers besides; gives the status and all that was said.
fn ask(host: &str, path: &str, headers: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(host).expect("it listens");
    let has_host = headers.to_lowercase().contains("host:");
    let own = if has_host { String::new() } else { format!("Host: {host}\r\n") };
    // The older version, in which a body comes in one piece; only what is to become a stream needs the newer one.
    let version = if headers.contains("Upgrade") { "1.1" } else { "1.0" };
    write!(stream, "GET {path} HTTP/{version}\r\n{own}{headers}\r\n").expect("sent");
    let mut said = Vec::new();
    stream.read_to_end(&mut said).expect("answered");
    let said = String::from_utf8_lossy(&said).into_owned();
    (said.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status"), said)
}

#[test]
fn the_page_its_files_and_the_trace_are_handed_out() {
    let (host, path) = serve(text("one\ntwo\n"));
    let (status, page) = ask(&host, &path, "");
    assert_eq!(status, 200);
    assert!(page.contains("<!doctype html") || page.contains("<!DOCTYPE html"), "{page}");
    assert!(page.contains("content-security-policy: default-src 'none'") && page.contains("no-referrer"), "{page}");
    assert_eq!(ask(&host, &format!("{path}viewer.js"), "").0, 200);
    assert!(ask(&host, &format!("{path}trace"), "").1.ends_with("one\ntwo\n"));
    assert!(ask(&host, &format!("{path}feed.json"), "").1.ends_with(r#"{"source":"file","name":"<b>run</b>"}"#));
    assert_eq!(ask(&host, &format!("{path}nothing.txt"), "").0, 404);
    assert_eq!(ask(&host, &format!("{path}..%2f..%2fCargo.toml"), "").0, 404);
    assert_eq!(ask(&host, &format!("{path}stream"), "").0, 400, "a file is no stream");
}

#[test]
fn nobody_else_gets_anything() {
    let (host, path) = serve(text("secret\n"));
    let trace = format!("{path}trace");
    let port = host.rsplit_once(':').expect("a port").1;
    for (path, headers) in [
        ("/".to_owned(), String::new()),
        ("/trace".to_owned(), String::new()),
        (format!("/{}/trace", "0".repeat(32)), String::new()),
        (trace.clone(), "Origin: http://evil.example\r\n".to_owned()),
        (trace.clone(), "Origin: null\r\n".to_owned()),
        (trace.clone(), format!("Host: evil.example:{port}\r\n")),
    ] {
        let (status, said) = ask(&host, &path, &headers);
        assert_eq!(status, 403, "{path} {headers}");
        assert!(said.ends_with("not for you\n"), "{said}");
    }
    assert_eq!(ask(&host, &trace, &format!("Origin: http://{host}\r\n")).0, 200);
}

const UPGRADE: &str =
    "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";

/// A text frame of a client, under 126 bytes, masked with nothing.
fn frame(text: &str) -> Vec<u8> {
    let length = u8::try_from(text.len()).expect("short");
    [&[0x81, 0x80 | length, 0, 0, 0, 0], text.as_bytes()].concat()
}

#[test]
fn a_stream_is_read_along_and_commanded_by_its_own_page_only() {
    let (hub, commands) = (Hub::default(), Arc::new(Mutex::new(Vec::<String>::new())));
    let taken = commands.clone();
    let take = move |text: &str| taken.lock().unwrap_or_else(PoisonError::into_inner).push(text.into());
    let (host, path) = serve(Source::Stream { name: "demo".into(), hub: hub.clone(), commands: Arc::new(take) });
    let path = format!("{path}stream");
    let upgrade = format!("Connection: Upgrade\r\n{UPGRADE}");
    for foreign in ["", "Origin: http://evil.example\r\n"] {
        assert_eq!(ask(&host, &path, &format!("Connection: close, Upgrade\r\n{UPGRADE}{foreign}")).0, 403, "{foreign}");
    }
    let mut sink = hub.begin();
    writeln!(sink, "early").expect("written");
    sink.flush().expect("flushed");
    let mut socket = TcpStream::connect(&host).expect("it listens");
    write!(socket, "GET {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\n{upgrade}\r\n").expect("sent");
    socket.write_all(&frame(r#"{"crash":3}"#)).expect("sent");
    let (mut heard, mut piece) = (Vec::new(), [0; 1024]);
    let mut hear_until = |words: &str| {
        while !String::from_utf8_lossy(&heard).contains(words) {
            let length = socket.read(&mut piece).expect("heard");
            assert!(length > 0, "it hung up: {}", String::from_utf8_lossy(&heard));
            heard.extend_from_slice(&piece[..length]);
        }
    };
    hear_until("early");
    writeln!(sink, "late").expect("written");
    sink.flush().expect("flushed");
    hear_until("late");
    while commands.lock().unwrap_or_else(PoisonError::into_inner).is_empty() {
        thread::yield_now();
    }
    assert_eq!(*commands.lock().unwrap_or_else(PoisonError::into_inner), [r#"{"crash":3}"#]);
}

#[test]
fn a_compressed_trace_is_handed_out_as_text() {
    let path = std::env::temp_dir().join(format!("driftlock-viewer-{}.jsonl.zst", std::process::id()));
    let lines = "a line of a trace\n".repeat(10_000);
    std::fs::write(&path, zstd::encode_all(lines.as_bytes(), 0).expect("compressed")).expect("written");
    let (host, page) = serve(Source::File(path.clone()));
    let (status, said) = ask(&host, &format!("{page}trace"), "");
    std::fs::remove_file(path).expect("removed");
    assert_eq!((status, said.matches("a line of a trace").count()), (200, 10_000));
}

#[test]
fn a_port_that_is_taken_is_an_error() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    assert!(Server::bind(taken.local_addr().expect("an address").port()).is_err());
}
