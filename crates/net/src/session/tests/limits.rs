//! How far patience and memory go, and not a step further.

use super::{Effect, Segment, Sessions, Settings, id};
use crate::session::Session;
use crate::{Boot, Time};

/// Sends one message to a node that never answers, and wakes the sender whenever it wants to be woken. Returns the
/// sessions that it tried to open, and when it gave the message up.
fn unanswered(keep: bool, settings: &Settings) -> (Vec<u32>, Option<Time>) {
    let mut sessions: Sessions<u8> = Sessions::new(id(0), Boot(0), settings.clone());
    let (mut out, mut given_up) = (Vec::new(), None);
    sessions.send(Time::ZERO, id(1), 7, keep, &mut out);
    while let Some(now) = sessions.wakes().filter(|&now| now < Time::ZERO + settings.give_up * 3) {
        let before = out.len();
        sessions.woken(now, &mut out);
        if out[before..].iter().any(|effect| matches!(effect, Effect::Undelivered { .. })) {
            given_up = Some(now);
        }
    }
    let opened = out.iter().filter_map(|effect| match effect {
        Effect::Transmit { segment: Segment::Open { session }, .. } => Some(session.counter),
        _ => None,
    });
    (opened.collect(), given_up)
}

#[test]
fn what_may_be_given_up_is_given_up_when_the_time_is_over_and_not_before() {
    let settings = Settings::default();
    let (opened, given_up) = unanswered(false, &settings);
    assert_eq!(given_up, Some(Time::ZERO + settings.give_up));
    assert!(opened.len() > 1 && opened.iter().all(|&counter| counter == 0), "tried again, until it was given up");
}

#[test]
fn a_session_of_kept_messages_alone_is_never_given_up() {
    let (opened, given_up) = unanswered(true, &Settings::default());
    assert_eq!(given_up, None);
    assert!(opened.len() > 1 && opened.iter().all(|&counter| counter == 0), "always the same session: {opened:?}");
}

#[test]
fn what_lies_beyond_the_window_is_not_kept() {
    let settings = Settings { window: 2, ..Settings::default() };
    let mut receiver: Sessions<u8> = Sessions::new(id(1), Boot(0), settings);
    let session = Session { boot: Boot(0), counter: 0 };
    let mut out = Vec::new();
    receiver.received(Time::ZERO, id(0), Segment::Open { session }, &mut out);
    for (seq, message) in [(2, 2), (1, 1), (0, 0)] {
        receiver.received(
            Time::from_millis(1),
            id(0),
            Segment::Data { session, boot: Boot(0), seq, kept: None, message },
            &mut out,
        );
    }
    let delivered = out.iter().filter_map(|effect| match effect {
        Effect::Deliver { message, .. } => Some(*message),
        _ => None,
    });
    assert_eq!(delivered.collect::<Vec<_>>(), [0, 1], "the last of the window was kept, the one after it was not");
    let ack = Effect::Transmit { to: id(0), segment: Segment::Ack { session, boot: Boot(0), next: 2 } };
    assert_eq!(out.last(), Some(&ack));
}
