use super::*;

#[test]
fn a_handshake_is_repeated_ever_more_rarely_and_so_many_times() {
    let settings = Settings { tries_max: 7, ..Settings::default() };
    let mut attempt = Attempt::first(Time::ZERO, &settings);
    let (mut last, mut waits) = (Time::ZERO, Vec::new());
    loop {
        let due = attempt.again_at;
        waits.push((due.0 - last.0) / 1_000_000);
        assert_eq!(attempt.repeat(Time(due.0 - 1), &settings), None, "it is not due yet");
        match attempt.repeat(due, &settings) {
            Some(Ok(())) => last = due,
            given_up => break assert_eq!(given_up, Some(Err(()))),
        }
    }
    assert_eq!(waits, [100, 200, 400, 800, 1_000, 1_000, 1_000], "milliseconds; the first try was made at the start");
}
