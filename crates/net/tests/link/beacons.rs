//! Beacons stay few and short, however many nodes share a cell.

use driftlock_net::link::Settings;
use driftlock_net::{Span, Time};
use driftlock_protocol::NodeId;

use crate::crowd::Crowd;

/// The most hellos that node 0 hears in any one second, from `start` on.
fn hellos_per_second_max(hellos: &[(Time, NodeId)], start: Time) -> usize {
    let heard: Vec<_> =
        hellos.iter().filter(|hello| hello.0 >= start && hello.1 != NodeId(0)).map(|hello| hello.0).collect();
    let within = |at: usize| heard[at..].iter().take_while(|&&time| time < heard[at] + Span::from_units(1.0)).count();
    (0..heard.len()).map(within).max().unwrap_or(0)
}

#[test]
fn the_number_of_hellos_is_bounded_in_a_cell_of_5_of_50_and_of_500() {
    let settings = Settings::default();
    for nodes in [5, 50, 500] {
        let mut crowd = Crowd::new(nodes, 1, settings);
        crowd.run_unwatched(40_000);
        let at_the_start = hellos_per_second_max(&crowd.hellos, Time::ZERO);
        let later = hellos_per_second_max(&crowd.hellos, Time::from_units(20.0));
        let longest = crowd.longest_list;
        println!("{nodes} nodes: {later} hellos in a second, {at_the_start} at the start, lists of {longest}");
        // Some speak at the same moment, before they could hear each other.
        let bound = settings.hellos_per_second_max as usize * 11 / 10;
        assert!(later <= bound && at_the_start <= 5 * bound / 2, "{later} and {at_the_start} of {nodes}");
        assert!(later >= 4, "nobody is forgotten");
        assert!(longest <= settings.list_max as usize);
    }
}

#[test]
fn a_hub_between_two_cells_hears_no_more_than_the_bound_either() {
    // All hear node 0; the odd ones hear each other, and so do the even ones.
    let nodes = 101;
    let settings = Settings { hellos_per_second_max: 20, ..Settings::default() };
    let mut crowd = Crowd::new(nodes, 3, settings);
    crowd.divide(|a, b| a == 0 || b == 0 || a % 2 == b % 2);
    crowd.run_unwatched(100_000);
    let since = Time::from_units(70.0);
    let later = crowd.hellos.iter().filter(|hello| hello.0 >= since && hello.1 != NodeId(0)).count();
    assert!(later <= 30 * 20, "{later} in 30 s");
}
