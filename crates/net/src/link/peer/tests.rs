use super::*;

#[test]
fn a_handshake_is_repeated_ever_more_rarely_and_so_many_times() {
    let mut own = Own::<()> {
        me: NodeId(0),
        boot: Boot(1),
        since: Boot(1),
        floor: Incarnation(0),
        settings: Settings { tries_max: 6, ..Settings::default() },
        patience: Patience::new(1),
        is_kept: |()| false,
        resources: Vec::new(),
        mark: Mark::NONE,
    };
    let mut attempt = Attempt::first(Time::ZERO, &mut own);
    let (mut last, mut waits) = (Time::ZERO, Vec::new());
    loop {
        let due = attempt.again_at;
        waits.push((due.0 - last.0) / 1_000_000);
        assert_eq!(attempt.repeat(Time(due.0 - 1), &mut own), None, "it is not due yet");
        match attempt.repeat(due, &mut own) {
            Some(Ok(())) => last = due,
            given_up => break assert_eq!(given_up, Some(Err(()))),
        }
    }
    assert_eq!(waits.len(), 6, "the first try was made at the start");
    for (wait, first) in waits.iter().zip([200, 400, 800, 1_600, 2_000, 2_000]) {
        assert!((first..=first * 5 / 4).contains(wait), "{waits:?}, in milliseconds: a quarter may be added");
    }
}
