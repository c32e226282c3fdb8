//! How much there is room for.

use super::super::Session;
use super::*;

fn tight(queue_max: usize, peers_max: usize) -> Sessions<u32> {
    let forget = Span::from_millis(10_000);
    Sessions::new(id(0), Boot(1), Settings { queue_max, peers_max, forget, ..Settings::default() })
}

fn undelivered(out: &[Effect<u32>]) -> Vec<u32> {
    let refused = |effect: &Effect<u32>| match effect {
        Effect::Undelivered { message, .. } => Some(*message),
        _ => None,
    };
    out.iter().filter_map(refused).collect()
}

#[test]
fn a_full_queue_takes_nothing_new_but_what_must_not_be_lost() {
    let (mut sessions, mut out) = (tight(2, 9), Vec::new());
    for (message, keep) in [(1, false), (2, false), (3, false), (4, true), (5, false)] {
        sessions.send(Time::ZERO, id(1), message, keep, &mut out);
    }
    assert_eq!(undelivered(&out), [3, 5]);
    assert_eq!(sessions.full(), Some((id(1), 3)));
    sessions.send(Time::ZERO, id(2), 6, false, &mut out);
    assert_eq!(undelivered(&out), [3, 5], "another node's queue is another one");
}

#[test]
fn one_that_never_said_anything_is_forgotten_for_another_one_and_nobody_else_is() {
    let (mut sessions, mut out) = (tight(9, 2), Vec::new());
    let open = Segment::Open { session: Session { boot: Boot(1), counter: 0 } };
    sessions.received(Time::ZERO, id(1), open.clone(), &mut out);
    sessions.send(Time::ZERO, id(2), 7, false, &mut out);
    let give_up = Time::ZERO + sessions.settings.give_up;
    sessions.woken(give_up, &mut out);
    assert_eq!(undelivered(&out), [7], "it has not answered");
    out.clear();
    sessions.send(give_up, id(3), 8, false, &mut out);
    assert_eq!(undelivered(&out), [8], "so lately it was spoken to");
    let later = give_up + sessions.settings.forget;
    sessions.received(later, id(3), open, &mut out);
    assert_eq!(sessions.peers.keys().copied().collect::<Vec<_>>(), [id(1), id(3)]);
    out.clear();
    sessions.send(later, id(4), 9, false, &mut out);
    assert_eq!(undelivered(&out), [9], "both have said something");
    assert_eq!(sessions.floor, 2, "what is spoken of with it again is later than all before");
}
